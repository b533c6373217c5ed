// The finished tasks of one run as columns, in the order of their reports. A written row never changes.
import { resizedFloat64, resizedInt32 } from '../base/resized.js';
import type { TaskRuns } from '../protocol/clusterObserver.js';

const MIN_ROWS = 64;

/**
 * One row of 24 bytes per finished task. An append copies three arrays, which costs 5 to 10 ns per task at 512 tasks
 * per batch. The columns are longer than `length`. An append may replace them, so read them from the table again
 * afterwards.
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

  /** Reserves `expected` rows. The system provides memory only when rows are written. */
  constructor(expected: number) {
    const rows = Math.max(MIN_ROWS, expected);
    this.ids = new Int32Array(rows);
    this.startTimes = new Float64Array(rows);
    this.stopTimes = new Float64Array(rows);
    this.workers = new Int32Array(rows);
  }

  /** Appends the first `count` runs. */
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

  /** Returns the rows `from .. length`, ordered by start time and then by row. */
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
