// Finds the time in which the start of a profiler blocked a worker's thread: tens of milliseconds, once or a few times
// per worker, during a task. Analyses subtract this time from the time of the task.
import { oncePer } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';
import { coreUseOf } from './coreUse.js';
import { firstFrom } from './lanes.js';
import { actionOf, workIntervalsOf } from './workIntervals.js';

/** Returns the seconds between two times in which the profiler of a worker (a row) started. Cost: a binary search. */
export function profilerSeconds(trace: Trace, worker: number, from: number, to: number): number {
  const rows = startsOf(trace).get(worker);
  if (rows === undefined) return 0;
  const { start, stop } = workIntervalsOf(trace);
  let seconds = 0;
  for (let at = firstFrom(rows, start, to, 0, rows.length) - 1; at >= 0; at--) {
    const row = rows[at]!;
    // Starts do not overlap, so all previous ones ended earlier.
    if (stop[row]! <= from) break;
    seconds += Math.min(stop[row]!, to) - Math.max(start[row]!, from);
  }
  return seconds;
}

/** Returns the seconds of a task without waits for a core and without the start of the thread's profiler. */
export function ownSeconds(trace: Trace, row: number): number {
  const { worker, started, stopped } = trace.tasks;
  const profiler = profilerSeconds(trace, worker[row]!, started[row]!, stopped[row]!);
  return Math.max(0, coreUseOf(trace).aloneSeconds(row) - profiler);
}

/** Returns the rows of starts in order, by row of workers, found once per trace. Cost: a walk over the intervals. */
const startsOf = oncePer((trace: Trace): ReadonlyMap<number, Int32Array> => {
  const work = workIntervalsOf(trace);
  const { spans, offsets } = work;
  const found = new Map<number, Int32Array>();
  for (let worker = 0; worker + 1 < offsets.length; worker++) {
    const own = spans.rows.subarray(offsets[worker]!, offsets[worker + 1]!);
    const rows = own.filter((row) => actionOf(work, row) === 'profiler');
    if (rows.length > 0) found.set(worker, rows);
  }
  return found;
});
