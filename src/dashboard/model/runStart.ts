import type { Trace } from '../../trace/trace.js';

/**
 * Returns the beginning of the run in epoch seconds: the program's first call that made tasks, or else the first
 * submission or start of a task. Returns Infinity without tasks.
 */
export function runStart({ tasks, computations }: Trace): number {
  const { length, started, submitted, computation } = tasks;
  let [first, last] = [Number.POSITIVE_INFINITY, -1];
  for (let row = 0; row < length; row++) {
    // Times are NaN if the trace lacks them.
    if (started[row]! < first) first = started[row]!;
    if (submitted[row]! < first) first = submitted[row]!;
    if (computation[row] === last) continue;
    last = computation[row]!;
    const called = computations[last]?.start ?? Number.NaN;
    if (called < first) first = called;
  }
  return first;
}
