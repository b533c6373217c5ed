// Which task a sample belongs to: the one whose interval holds the sample's time.
import type { TaskIntervals } from '../protocol/profileCycle.js';

/** No task ran. */
export const NO_TASK = -1;

/**
 * The task of each time, or NO_TASK. Both ends of an interval belong to it; where intervals overlap (a task that is
 * awaited, and others meanwhile) the one that started last counts.
 *
 * Cost: one pass over both.
 *
 * @param times ascending
 */
export function tasksAt(times: Float64Array, intervals: TaskIntervals): Float64Array {
  const { starts, stops, tasks } = intervals;
  const found = new Float64Array(times.length).fill(NO_TASK);
  /** Intervals that have started and may not have ended, the latest last. */
  const open: number[] = [];
  let next = 0;
  for (const [sample, time] of times.entries()) {
    for (; next < starts.length && starts[next]! <= time; next++) open.push(next);
    // One that has ended may lie below one that has not; it is met again when that one ends.
    while (open.length > 0 && stops[open[open.length - 1]!]! < time) open.pop();
    const latest = open.at(-1);
    if (latest !== undefined) found[sample] = tasks[latest]!;
  }
  return found;
}
