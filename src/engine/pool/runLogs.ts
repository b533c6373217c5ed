// The memory that the runs of a thread share with it. The views of this memory, on both sides, cost as much as the rest of
// a run of one task. So the memory of short runs is used again.
import { type CompletionColumns, CompletionLog, completionColumns } from '../../protocol/completionLog.js';
import type { LogRef, RunMemory } from '../../protocol/isolateMessages.js';

/** Tasks up to which the memory of a run is used again. */
const MOST_TASKS = 16;
/** Most logs that are used again. Each has 2 kB. */
const MOST_LOGS = 32;

export interface RunLog {
  readonly log: CompletionLog;
  /** Entries that were copied out of the log. */
  readonly columns: CompletionColumns;
  readonly ref: LogRef;
  readonly claims: RunMemory['claims'];
  readonly wanted: RunMemory['wanted'];
}

export class RunLogs {
  readonly #numbered: RunLog[] = [];
  readonly #free: RunLog[] = [];

  /**
   * Returns the memory for a run with this number of tasks. Its reference must be sent to the thread.
   *
   * @param outstanding number of tasks for which the log has room
   */
  open(tasks: number, outstanding: number): RunLog {
    const isShort = tasks <= MOST_TASKS;
    const free = isShort ? this.#free.pop() : undefined;
    if (free !== undefined) {
      free.log.reopen();
      free.claims.fill(0);
      free.wanted.fill(0);
      return free;
    }
    const log = new CompletionLog(isShort ? MOST_TASKS : outstanding);
    const columns = completionColumns(log.capacity);
    const rows = isShort ? MOST_TASKS : tasks;
    const claims = new Int32Array(new SharedArrayBuffer(4 * rows));
    const wanted = new Uint8Array(new SharedArrayBuffer(rows));
    const memory = { buffer: log.buffer, claims, wanted };
    const isKept = isShort && this.#numbered.length < MOST_LOGS;
    const number = isKept ? this.#numbered.length : undefined;
    const views = { log, columns, claims, wanted };
    if (isKept) this.#numbered.push({ ...views, ref: { number, memory: undefined } });
    return { ...views, ref: { number, memory } };
  }

  /** Called when neither side uses the log with this number any more. */
  release(number: number | undefined): void {
    const known = number === undefined ? undefined : this.#numbered[number];
    if (known !== undefined) this.#free.push(known);
  }
}
