// Finds the tasks that did not run because a task failed on which they depend.
import { checkArgument, TRACE } from '../base/arguments.js';
import { getOrMake, oncePer } from '../base/lookUps.js';
import { LOCAL_CLIENT } from '../protocol/clientNames.js';
import { TASK_CANCELLED, TASK_ERRED, TASK_LOST } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';

/**
 * Returns the rows of skipped tasks that a worker of a cluster had already. They are recorded as cancelled, because the worker is
 * asked not to run them. Computed once per trace; cost: a walk over the tasks if some were cancelled.
 */
export const skippedRows = oncePer(({ tasks, totals }: Trace): ReadonlySet<number> => {
  const skipped = new Set<number>();
  if (totals.states[TASK_CANCELLED] === 0) return skipped;
  const { length, id, state, dependencyIds, dependencyOffsets } = tasks;
  const failed = new Set<number>();
  const dependents = new Map<number, number[]>();
  for (let row = 0; row < length; row++) {
    // A task that ran again counts by its last run. If that was lost, the task had ended too many workers.
    if (state[row] === TASK_ERRED || state[row] === TASK_LOST) failed.add(id[row]!);
    else failed.delete(id[row]!);
    if (state[row] !== TASK_CANCELLED) continue;
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++)
      getOrMake(dependents, dependencyIds[edge]!, () => []).push(row);
  }
  // The loop also visits the tasks that it adds.
  for (const one of failed)
    for (const row of dependents.get(one) ?? []) {
      skipped.add(row);
      failed.add(id[row]!);
    }
  return skipped;
});

/**
 * Returns the number of tasks that did not run because a task failed: `recorded` ones, whose runs count as cancelled, and others
 * without a run. The latter are known for local schedulers, whose computations end at the first failure.
 */
export function skippedTasks(trace: Trace): { readonly recorded: number; readonly others: number } {
  checkArgument('skippedTasks(): trace', trace, TRACE);
  const { tasks, computations, evicted, totals } = trace;
  const recorded = skippedRows(trace).size;
  let others = 0;
  if (evicted.tasks > 0 || totals.states[TASK_ERRED] === 0) return { recorded, others };
  const states = new Map(Array.from(tasks.id, (id, row) => [id, tasks.state[row]!]));
  for (const { firstId, size, client } of computations) {
    if (client !== LOCAL_CLIENT) continue;
    const known = Array.from({ length: size }, (_, at) => states.get(firstId + at));
    if (known.includes(TASK_ERRED)) others += known.filter((state) => state === undefined).length;
  }
  return { recorded, others };
}
