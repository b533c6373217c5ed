// Implements `Client.getTaskStream`.
import { eachUse } from '../../analysis/lanes.js';
import { checkOptions, NUMBER, type OptionKinds, PAGE_FILE } from '../../base/arguments.js';
import { getOrMake, recordOf } from '../../base/lookUps.js';
import { ACTIONS, type StartStop, TASK_STATES } from '../../protocol/clusterObserver.js';
import { type Trace, textOf } from '../../trace/trace.js';
import { writePageAt } from './clientPages.js';

export interface TaskStreamOptions {
  /** Begin of the range in seconds since the epoch. Default: the first run in the trace. */
  readonly start?: number;
  /** End of the range in seconds since the epoch. Default: the last run in the trace. */
  readonly stop?: number;
  /** Path of a performance report that opens at the task stream of this range. Default: none. */
  readonly filename?: string;
}

const TASK_STREAM_OPTIONS: OptionKinds<TaskStreamOptions> = {
  start: NUMBER,
  stop: NUMBER,
  filename: PAGE_FILE,
};

const TIMES = [
  ...(['submitted', 'ready', 'dispatched', 'received'] as const),
  ...(['started', 'stopped', 'acknowledged'] as const),
] as const;

/**
 * One run of a task. Times are seconds since the epoch on the scheduler's clock. If the run was lost with its worker,
 * `received`, `started` and `stopped` are unknown and NaN, and `acknowledged` is the time at which the loss was
 * detected.
 */
export interface TaskStreamRow extends Readonly<Record<(typeof TIMES)[number], number>> {
  readonly key: string;
  readonly prefix: string;
  /** Name of the worker. */
  readonly worker: string;
  readonly thread: number;
  /** `memory`, `erred`, `cancelled` or `lost`. */
  readonly status: string;
  /** Bytes of the result. */
  readonly nbytes: number;
  readonly type: string;
  /** Actions for the task, e.g. `transfer`, `disk-read`, `compute`, in the order in which they started. */
  readonly startstops: readonly StartStop[];
}

/** Implements `Client.getTaskStream`. */
export function taskStream(traceOf: () => Trace, options: TaskStreamOptions): TaskStreamRow[] {
  checkOptions('Client.getTaskStream', options, TASK_STREAM_OPTIONS);
  const { start = Number.NEGATIVE_INFINITY, stop = Number.POSITIVE_INFINITY, filename } = options;
  const trace = traceOf();
  if (filename !== undefined)
    writePageAt(trace, filename, { page: 'stream', title: 'Task stream', range: options });
  const { tasks, strings, workers } = trace;
  const rows: TaskStreamRow[] = [];
  const actions = actionsByRun(trace);
  const { started, stopped, prefix, worker, thread, state, nbytes, resultType } = tasks;
  const { dispatched, acknowledged } = tasks;
  for (let row = 0; row < tasks.length; row++) {
    const from = Number.isNaN(started[row]!) ? dispatched[row]! : started[row]!;
    const to = Number.isNaN(stopped[row]!) ? acknowledged[row]! : stopped[row]!;
    if (!(to >= start && from <= stop)) continue;
    rows.push({
      key: tasks.keyOf(row),
      prefix: textOf(strings, prefix[row]),
      worker: textOf(strings, workers.name[worker[row]!]),
      thread: thread[row]!,
      status: TASK_STATES[state[row]!] ?? '',
      nbytes: nbytes[row]!,
      type: textOf(strings, resultType[row]),
      ...recordOf(TIMES, (name) => tasks[name][row]!),
      startstops: (actions.get(row) ?? []).sort((a, b) => a.start - b.start),
    });
  }
  return rows;
}

/**
 * Returns the actions of each run by its row in `tasks`. An interval belongs to the last run on its worker that was
 * dispatched before it.
 */
function actionsByRun(trace: Trace): Map<number, StartStop[]> {
  const { tasks, intervals } = trace;
  const { id, worker, dispatched, started, stopped } = tasks;
  const runs = new Map<number, number[]>();
  const actions = new Map<number, StartStop[]>();
  for (let row = 0; row < tasks.length; row++) {
    getOrMake(runs, id[row]!, () => []).push(row);
    if (!(stopped[row]! >= started[row]!)) continue;
    const own: StartStop[] = [];
    eachUse(trace, row, (start, stop, share) => {
      if (share >= 0.5) own.push({ action: 'compute', start, stop });
    });
    actions.set(row, own);
  }
  const { action, start, stop } = intervals;
  for (let row = 0; row < intervals.length; row++) {
    const name = ACTIONS[action[row]!];
    const candidates = (runs.get(intervals.task[row]!) ?? []).filter(
      (one) => worker[one] === intervals.worker[row],
    );
    const run = candidates.findLast((one) => !(dispatched[one]! > start[row]!)) ?? candidates[0];
    if (run === undefined || name === undefined || name === 'compute') continue;
    getOrMake(actions, run, () => []).push({ action: name, start: start[row]!, stop: stop[row]! });
  }
  return actions;
}
