// The current activity of a live run: its tasks since the last pause. As in Dask's task stream, tasks after a pause are
// shown alone. Otherwise a cluster that waits between computations would squeeze the running one into a corner.
import type { RunningRow } from '../../protocol/viewMessages.js';
import type { TaskRows } from '../../trace/trace.js';
import type { TimeWindow } from './timeView.js';

/** Seconds without a running task after which the next task begins a new activity. */
export const PAUSE = 5;

/** Returns the time from the first task since the last pause to the last task, or to `now` while tasks run. */
export function currentActivity(
  { length, started, stopped }: Pick<TaskRows, 'length' | 'started' | 'stopped'>,
  running: readonly Pick<RunningRow, 'started'>[],
  now: number,
): TimeWindow | undefined {
  let start = Number.POSITIVE_INFINITY;
  let stop = Number.NEGATIVE_INFINITY;
  for (const task of running) {
    start = Math.min(start, task.started);
    stop = now;
  }
  // Rows are in the order of their reports. A row that ended before a pause is older than all rows of the activity.
  for (let row = length - 1; row >= 0; row--) {
    if (!(stopped[row]! >= started[row]!)) continue;
    if (stopped[row]! < start - PAUSE && Number.isFinite(start)) break;
    start = Math.min(start, started[row]!);
    stop = Math.max(stop, stopped[row]!);
  }
  return start < stop ? { start, stop } : undefined;
}
