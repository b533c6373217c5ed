// Finds the times in which workers had tasks that the program cancelled later, e.g. with a time limit.
import { oncePer } from '../base/lookUps.js';
import { TASK_CANCELLED } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';
import { skippedRows } from './skippedTasks.js';
import type { Span } from './spans.js';

/** The time from the dispatch of a task to its cancellation. */
export interface CancelledRun extends Span {
  /** Row of tasks. */
  readonly row: number;
}

/**
 * Returns the runs that the program cancelled, the one cancelled last first. Computed once per trace; cost: a walk over the
 * tasks.
 */
export const cancelledRuns = oncePer((trace: Trace): readonly CancelledRun[] => {
  const skipped = skippedRows(trace);
  const { length, state, dispatched, acknowledged } = trace.tasks;
  const runs: CancelledRun[] = [];
  for (let row = 0; row < length; row++)
    if (state[row] === TASK_CANCELLED && acknowledged[row]! > dispatched[row]! && !skipped.has(row))
      runs.push({ row, start: dispatched[row]!, stop: acknowledged[row]! });
  return runs.sort((a, b) => b.stop - a.stop);
});
