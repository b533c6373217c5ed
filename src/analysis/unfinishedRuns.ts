// Finds the times in which workers had tasks whose runs did not end: tasks that the program cancelled, e.g. with a time
// limit, that exceeded their timeout, or that ended with their worker.
import { oncePer, pushTo } from '../base/lookUps.js';
import { TASK_CANCELLED, TASK_LOST } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';
import { skippedRows } from './skippedTasks.js';
import type { Span } from './spans.js';

/** The time from the dispatch of a task to its cancellation or loss. When it began to run is not recorded. */
export interface UnfinishedRun extends Span {
  /** Row of tasks. */
  readonly row: number;
}

/** Returns these runs, the one that ended last first. Computed once per trace; cost: a walk over the tasks. */
export const unfinishedRuns = oncePer((trace: Trace): readonly UnfinishedRun[] => {
  const skipped = skippedRows(trace);
  const { length, state, dispatched, acknowledged } = trace.tasks;
  const runs: UnfinishedRun[] = [];
  for (let row = 0; row < length; row++) {
    const isUnfinished = (state[row] === TASK_CANCELLED && !skipped.has(row)) || state[row] === TASK_LOST;
    if (isUnfinished && acknowledged[row]! > dispatched[row]!)
      runs.push({ row, start: dispatched[row]!, stop: acknowledged[row]! });
  }
  return runs.sort((a, b) => b.stop - a.stop);
});

/** Largest difference in seconds between the clocks of a worker and of the scheduler. */
const CLOCK_ERROR = 10e-3;

/** Finds such runs for a walk backwards in time. */
export class UnfinishedWalk {
  readonly #trace: Trace;
  /** Runs by task and by thread, in order of their ends. */
  readonly #runs = new Map<string, UnfinishedRun[]>();

  constructor(trace: Trace) {
    this.#trace = trace;
    for (const run of unfinishedRuns(trace).toReversed())
      for (const place of placesOf(trace, run.row)) pushTo(this.#runs, place, run);
  }

  /**
   * Returns the run of the task of `row`, or on its thread before it started, that began before `time` and ended last. The time of
   * a call is at most that of the call before.
   */
  before(row: number, time: number): UnfinishedRun | undefined {
    if (this.#runs.size === 0) return undefined;
    const started = this.#trace.tasks.started[row]! + CLOCK_ERROR;
    const last = placesOf(this.#trace, row).map((place, at) => {
      const runs = this.#runs.get(place) ?? [];
      // A run that ended later had the thread after this task, or waited behind it.
      const isLater = ({ start, stop }: UnfinishedRun): boolean =>
        start >= time || (at > 0 && stop > started);
      while (runs.length > 0 && isLater(runs.at(-1)!)) runs.pop();
      return runs.at(-1);
    });
    return last.reduce((one, other) => ((other?.stop ?? 0) > (one?.stop ?? 0) ? other : one));
  }
}

/** Returns names of the task of a row and of its thread. */
function placesOf({ tasks: { id, worker, thread } }: Trace, row: number): string[] {
  return [`task ${id[row]}`, `thread ${worker[row]} ${thread[row]}`];
}
