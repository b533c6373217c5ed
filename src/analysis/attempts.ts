// Finds the runs that failed and that another run of the same task followed (`retries`). A run cannot begin before the
// failed one has ended.
import { oncePer } from '../base/lookUps.js';
import { TASK_ERRED, TASK_LOST } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';
import { ran } from './lanes.js';
import { knownAt } from './submissionTimes.js';

/**
 * Returns, by row of tasks, the row of the failed run that the run repeats; -1 if it repeats none. Computed once per trace.
 */
export const repeatedRuns = oncePer((trace: Trace): Int32Array => {
  const { length, id, attempt, state } = trace.tasks;
  const repeated = new Int32Array(length).fill(-1);
  if (!attempt.some((number) => number > 1)) return repeated;
  const failed = new Map<number, number>();
  for (let row = 0; row < length; row++) {
    if (state[row] === TASK_LOST) continue;
    if (attempt[row]! > 1) repeated[row] = failed.get(id[row]!) ?? -1;
    if (state[row] === TASK_ERRED && ran(trace, row)) failed.set(id[row]!, row);
    else failed.delete(id[row]!);
  }
  return repeated;
});

/** Returns the number of failed runs that another run of the same task followed. */
export function repeatedCount(trace: Trace): number {
  return repeatedRuns(trace).reduce((count, row) => (row < 0 ? count : count + 1), 0);
}

/**
 * Returns `ready` by row of tasks. A run that repeats a failed one is ready when the scheduler knows of the failure.
 * Computed once per trace.
 */
export const readyTimes = oncePer((trace: Trace): Float64Array => {
  const { ready } = trace.tasks;
  const repeated = repeatedRuns(trace);
  if (!repeated.some((row) => row >= 0)) return ready;
  return ready.map((time, row) =>
    repeated[row]! < 0 ? time : Math.max(time, knownAt(trace, repeated[row]!)),
  );
});
