// Finds the times in which workers had tasks that the program cancelled later, e.g. with a time limit.
import { oncePer } from '../base/lookUps.js';
import { TASK_CANCELLED } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';
import type { Span } from './spans.js';

/** The time from the dispatch of a task to its cancellation. */
export interface CancelledRun extends Span {
  /** Row of tasks. */
  readonly row: number;
}

/** Returns the cancelled runs, the one cancelled last first. Computed once per trace; cost: a walk over the tasks. */
export const cancelledRuns = oncePer(({ tasks }: Trace): readonly CancelledRun[] => {
  const { length, state, dispatched, acknowledged } = tasks;
  const runs: CancelledRun[] = [];
  for (let row = 0; row < length; row++)
    if (state[row] === TASK_CANCELLED && acknowledged[row]! > dispatched[row]!)
      runs.push({ row, start: dispatched[row]!, stop: acknowledged[row]! });
  return runs.sort((a, b) => b.stop - a.stop);
});
