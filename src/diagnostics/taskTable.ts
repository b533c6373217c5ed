// The columns of the tasks that finished in one run, in the order in which they arrived. Written by the recorder while the
// run goes on, read by every view; a row never changes once it is written.
import { resizedFloat64, resizedInt32 } from '../base/resized.js';
import type { TaskRuns } from '../protocol/clusterObserver.js';

const MIN_ROWS = 64;

/**
 * One row per finished task: 24 bytes. Appending a batch is three copies of its arrays; at 512 tasks a batch that is
 * 5 to 10 ns a task. The columns are longer than `length`: read no further. They are replaced when the table grows, so
 * take them from the table again after an append.
 */
export class TaskTable {
  /** Rows written so far. */
  length = 0;
  ids: Int32Array;
  /** Seconds since the epoch, from the isolate that ran the task. */
  startTimes: Float64Array;
  stopTimes: Float64Array;
  /** Indices of workers. */
  workers: Int32Array;

  /** `expected` rows fit without growing; memory that is not written to yet is not taken from the system. */
  constructor(expected: number) {
    const rows = Math.max(MIN_ROWS, expected);
    this.ids = new Int32Array(rows);
    this.startTimes = new Float64Array(rows);
    this.stopTimes = new Float64Array(rows);
    this.workers = new Int32Array(rows);
  }

  /** The first `count` of the runs. */
  append(runs: Pick<TaskRuns, 'count' | 'ids' | 'started' | 'stopped' | 'worker'>, count = runs.count): void {
    const { ids, started, stopped, worker } = runs;
    const from = this.length;
    if (from + count > this.ids.length) this.#grow(from + count);
    this.ids.set(count === ids.length ? ids : ids.subarray(0, count), from);
    this.startTimes.set(count === started.length ? started : started.subarray(0, count), from);
    this.stopTimes.set(count === stopped.length ? stopped : stopped.subarray(0, count), from);
    if (worker !== 0) this.workers.fill(worker, from, from + count);
    this.length = from + count;
  }

  #grow(rows: number): void {
    const capacity = Math.max(rows, this.ids.length * 2);
    this.ids = resizedInt32(this.ids, capacity);
    this.startTimes = resizedFloat64(this.startTimes, capacity);
    this.stopTimes = resizedFloat64(this.stopTimes, capacity);
    this.workers = resizedInt32(this.workers, capacity);
  }

  /** Rows `from .. length` by start time; rows that started at the same time keep their order. */
  rowsByStart(from: number): Int32Array {
    const rows = new Int32Array(Math.max(0, this.length - from));
    const { startTimes } = this;
    let sorted = true;
    for (let i = 0; i < rows.length; i++) {
      rows[i] = from + i;
      if (i > 0 && startTimes[from + i]! < startTimes[from + i - 1]!) sorted = false;
    }
    return sorted ? rows : rows.sort((a, b) => startTimes[a]! - startTimes[b]! || a - b);
  }
}
