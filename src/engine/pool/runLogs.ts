// The completion logs of the runs of a thread. The views of a log, on both sides, cost as much as the rest of a run of one
// task. So the logs of short runs are used again.
import { type CompletionColumns, CompletionLog, completionColumns } from '../../protocol/completionLog.js';
import type { LogRef } from '../../protocol/isolateMessages.js';

/** Outstanding tasks up to which a log is used again. */
const MOST_TASKS = 16;
/** Most logs that are used again. Each has 2 kB. */
const MOST_LOGS = 32;

export interface RunLog {
  readonly log: CompletionLog;
  /** Entries that were copied out of the log. */
  readonly columns: CompletionColumns;
  readonly ref: LogRef;
}

export class RunLogs {
  readonly #numbered: RunLog[] = [];
  readonly #free: RunLog[] = [];

  /** Returns a log with room for at least this number of tasks. Its reference must be sent to the thread. */
  open(tasks: number): RunLog {
    const free = tasks > MOST_TASKS ? undefined : this.#free.pop();
    if (free !== undefined) {
      free.log.reopen();
      return free;
    }
    const log = new CompletionLog(tasks);
    const columns = completionColumns(log.capacity);
    const isKept = tasks <= MOST_TASKS && this.#numbered.length < MOST_LOGS;
    const number = isKept ? this.#numbered.length : undefined;
    if (isKept) this.#numbered.push({ log, columns, ref: { number, buffer: undefined } });
    return { log, columns, ref: { number, buffer: log.buffer } };
  }

  /** Called when neither side uses the log with this number any more. */
  release(number: number | undefined): void {
    const known = number === undefined ? undefined : this.#numbered[number];
    if (known !== undefined) this.#free.push(known);
  }
}
