// Finds the stalls of short tasks on a busy machine. A thread also waits for threads that have no core, e.g. those of V8. Such a
// wait is no wait for a core, and may happen in any task.
import { ownSeconds } from '../profilerStarts.js';
import type { Facts } from './finding.js';
import { busyCores } from './waitsForOthers.js';

/** Seconds of such a wait, at most, as far as it is taken for one whatever else the run does. */
export const STALL = 0.1;
/** Share of the tasks, the longest ones, of which stalled tasks take most of the time. */
const FEW = 0.05;
/** The same if cores were free. */
const RARE = 0.005;
const MOST = 0.5;
/** Ratio to the median from which a task is long. */
const LONG = 5;

/**
 * Returns the seconds of the few tasks that take most of the time, while the others are short; 0 if tasks are not divided like
 * this. If cores were free, only rare and short ones count: threads also wait for one another at the end of a time slice.
 *
 * @param longest seconds of a task that may be a stall
 */
export function stallSeconds(facts: Facts, rows: Int32Array, longest = Number.POSITIVE_INFINITY): number {
  const isBusy = busyCores(facts, rows) !== undefined;
  const limit = isBusy ? longest : STALL;
  // map() is several times as fast as Float64Array.from() with a function.
  const seconds = new Float64Array(rows.length).map((_, at) => ownSeconds(facts.trace, rows[at]!)).sort();
  const usual = seconds[rows.length >> 1] ?? 0;
  const few = seconds.subarray(Math.ceil((1 - (isBusy ? FEW : RARE)) * rows.length));
  const sum = (values: Float64Array): number => values.reduce((all, one) => all + one, 0);
  const stalled = sum(few.filter((one) => one > LONG * usual && one <= limit));
  return stalled >= MOST * sum(seconds) ? stalled : 0;
}
