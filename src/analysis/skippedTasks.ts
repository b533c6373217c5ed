// Counts the tasks of local schedulers that did not run because another task failed.
import { checkArgument, TRACE } from '../base/arguments.js';
import { LOCAL_CLIENT } from '../protocol/clientNames.js';
import { TASK_ERRED } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';

/**
 * Returns the number of tasks without a run in failed computations of local schedulers, which end at the first failure. In
 * clusters, tasks behind a failed one have rows, as cancelled ones. Returns 0 if rows of tasks were evicted.
 */
export function skippedTasks(trace: Trace): number {
  checkArgument('skippedTasks(): trace', trace, TRACE);
  const { tasks, computations, evicted } = trace;
  if (evicted.tasks > 0 || !tasks.state.includes(TASK_ERRED)) return 0;
  const states = new Map(Array.from(tasks.id, (id, row) => [id, tasks.state[row]!]));
  let skipped = 0;
  for (const { firstId, size, client } of computations) {
    if (client !== LOCAL_CLIENT) continue;
    const known = Array.from({ length: size }, (_, at) => states.get(firstId + at));
    if (known.includes(TASK_ERRED)) skipped += known.filter((state) => state === undefined).length;
  }
  return skipped;
}
