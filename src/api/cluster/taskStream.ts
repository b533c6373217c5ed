// `client.getTaskStream()`: the runs of tasks in a range of time, as rows.
import { NUMBER, type OptionKinds, PAGE_FILE } from '../../base/arguments.js';
import { TASK_STATES } from '../../protocol/clusterObserver.js';
import type { Trace } from '../../trace/trace.js';

export interface TaskStreamOptions {
  /** Seconds since the epoch. Default: from the first run that the trace holds. */
  readonly start?: number;
  /** Seconds since the epoch. Default: to the last. */
  readonly stop?: number;
  /** See `Client.getTaskStream`. */
  readonly filename?: string;
}

export const TASK_STREAM_OPTIONS: OptionKinds<TaskStreamOptions> = {
  start: NUMBER,
  stop: NUMBER,
  filename: PAGE_FILE,
};

/**
 * One run of a task. Times are seconds since the epoch on the scheduler's clock. Of a run that was lost with its worker nobody
 * knows when it began: `received`, `started` and `stopped` are NaN. It was under way at some time between `dispatched` and
 * `acknowledged`, when the loss was known; filled in, these would look like time that the task took.
 */
export interface TaskStreamRow {
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
  readonly submitted: number;
  readonly ready: number;
  readonly dispatched: number;
  readonly received: number;
  readonly started: number;
  readonly stopped: number;
  readonly acknowledged: number;
}

/**
 * Runs that were going on in the range, in the order in which they ended; lost ones if they may have been.
 *
 * @source Dask, `Client.get_task_stream`
 */
export function taskStreamRows(
  { tasks, strings, workers }: Trace,
  { start = Number.NEGATIVE_INFINITY, stop = Number.POSITIVE_INFINITY }: TaskStreamOptions,
): TaskStreamRow[] {
  const rows: TaskStreamRow[] = [];
  const { started, stopped, prefix, worker, thread, state, nbytes, resultType } = tasks;
  const { submitted, ready, dispatched, received, acknowledged } = tasks;
  const text = (id: number): string => (id < 0 ? '' : strings.get(id));
  for (let row = 0; row < tasks.length; row++) {
    const from = Number.isNaN(started[row]!) ? dispatched[row]! : started[row]!;
    const to = Number.isNaN(stopped[row]!) ? acknowledged[row]! : stopped[row]!;
    if (!(to >= start && from <= stop)) continue;
    rows.push({
      key: tasks.keyOf(row),
      prefix: text(prefix[row]!),
      worker: text(workers.name[worker[row]!] ?? -1),
      thread: thread[row]!,
      status: TASK_STATES[state[row]!] ?? '',
      nbytes: nbytes[row]!,
      type: text(resultType[row]!),
      submitted: submitted[row]!,
      ready: ready[row]!,
      dispatched: dispatched[row]!,
      received: received[row]!,
      started: started[row]!,
      stopped: stopped[row]!,
      acknowledged: acknowledged[row]!,
    });
  }
  return rows;
}
