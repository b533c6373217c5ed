// The rows of tasks in a live trace. Whole chunks are evicted, the oldest first. A row uses 56 bytes, 8 more if the
// engine measures waits for cores, and 16 more if tasks secede. Values that are the same for a batch (computation, worker, time of acknowledgement)
// are stored once per batch.

import { Float64Column, Int32Column } from '../../base/columns.js';
import type { TaskRuns } from '../../protocol/clusterObserver.js';
import type { LiveComputation } from './liveComputations.js';
import { type Piece, RowWindow, rowsOfChunk } from './rowWindow.js';

/** Number of rows up to which a loop is faster than `set` with views. */
const FEW = 24;

/** Columns of numbers that runs have under the same names. */
export const MEASURED = ['ready', 'dispatched', 'received', 'started', 'stopped', 'nbytes'] as const;
/** Columns of numbers that runs may lack. */
export const RARE = ['seceded', 'resumed', 'waited'] as const;

/** Consecutive rows of one computation on one worker. */
export interface SegmentRows {
  /** Rows `[from .. to)` of the chunk. */
  readonly from: number;
  readonly to: number;
  readonly computation: LiveComputation;
  readonly worker: number;
  readonly acknowledged: number;
}

export class TaskChunk {
  length = 0;
  /** Ids of tasks within their computation. */
  readonly ids: Int32Array;
  readonly state: Uint8Array;
  readonly attempt: Uint8Array;
  readonly type: Uint16Array;
  readonly nbytes: Float64Array;
  readonly ready: Float64Array;
  readonly dispatched: Float64Array;
  readonly received: Float64Array;
  readonly started: Float64Array;
  readonly stopped: Float64Array;
  /** Present if workers have several threads. */
  threads: Int32Array | undefined;
  /** Present if the engine measures waits for cores. */
  coreWaits: Float64Array | undefined;
  /** Present if tasks have seceded. */
  seceded: Float64Array | undefined;
  resumed: Float64Array | undefined;
  waited: Float64Array | undefined;
  readonly #segmentStarts = new Int32Column();
  readonly #segmentWorkers = new Int32Column();
  readonly #acknowledged = new Float64Column();
  readonly #computations: LiveComputation[] = [];

  constructor(rows: number) {
    this.ids = new Int32Array(rows);
    this.state = new Uint8Array(rows);
    this.attempt = new Uint8Array(rows);
    this.type = new Uint16Array(rows);
    this.nbytes = new Float64Array(rows);
    this.ready = new Float64Array(rows);
    this.dispatched = new Float64Array(rows);
    this.received = new Float64Array(rows);
    this.started = new Float64Array(rows);
    this.stopped = new Float64Array(rows);
  }

  get room(): number {
    return this.ids.length - this.length;
  }

  /** Copies runs `[from .. to)`, for which the chunk must have room. */
  append(runs: TaskRuns, from: number, to: number, computation: LiveComputation): void {
    const at = this.length;
    this.#segmentStarts.push(at);
    this.#segmentWorkers.push(runs.worker);
    this.#acknowledged.push(runs.acknowledged);
    this.#computations.push(computation);
    if (runs.threads !== undefined) {
      this.threads ??= new Int32Array(this.ids.length);
      this.threads.set(runs.threads.subarray(from, to), at);
    }
    const added = (column: Float64Array | undefined, known: Float64Array | undefined) => {
      if (known === undefined) return column;
      const all = column ?? new Float64Array(this.ids.length).fill(Number.NaN);
      all.set(known.subarray(from, to), at);
      return all;
    };
    this.coreWaits = added(this.coreWaits, runs.coreWaits);
    for (const name of RARE) this[name] = added(this[name], runs[name]);
    if (to - from < FEW) this.#copyFew(runs, from, to);
    else this.#copyMany(runs, from, to);
    this.length = at + to - from;
  }

  #copyFew(runs: TaskRuns, from: number, to: number): void {
    let at = this.length;
    for (let i = from; i < to; i++, at++) {
      this.ids[at] = runs.ids[i]!;
      this.state[at] = runs.states[i]!;
      this.attempt[at] = runs.attempts[i]!;
      this.type[at] = runs.types[i]!;
      this.nbytes[at] = runs.nbytes[i]!;
      this.ready[at] = runs.ready[i]!;
      this.dispatched[at] = runs.dispatched[i]!;
      this.received[at] = runs.received[i]!;
      this.started[at] = runs.started[i]!;
      this.stopped[at] = runs.stopped[i]!;
    }
  }

  #copyMany(runs: TaskRuns, from: number, to: number): void {
    const at = this.length;
    this.ids.set(runs.ids.subarray(from, to), at);
    this.state.set(runs.states.subarray(from, to), at);
    this.attempt.set(runs.attempts.subarray(from, to), at);
    this.type.set(runs.types.subarray(from, to), at);
    for (const name of MEASURED) this[name].set(runs[name].subarray(from, to), at);
  }

  /** Yields the segments of rows `[from .. to)`, clipped to that range. */
  *segments(from: number, to: number): Generator<SegmentRows> {
    const starts = this.#segmentStarts;
    for (let i = 0; i < starts.length; i++) {
      const start = Math.max(from, starts.values[i]!);
      const end = Math.min(to, i + 1 < starts.length ? starts.values[i + 1]! : this.length);
      if (start >= end) continue;
      yield {
        from: start,
        to: end,
        computation: this.#computations[i]!,
        worker: this.#segmentWorkers.values[i]!,
        acknowledged: this.#acknowledged.values[i]!,
      };
    }
  }
}

/** Immutable rows of a chunk. */
export type TaskPiece = Piece<TaskChunk>;

export class TaskWindow extends RowWindow<TaskChunk> {
  /** Creates a window of at least `limit` rows and at most one chunk more. */
  constructor(limit: number) {
    const rows = rowsOfChunk(limit, 64, 1 << 14);
    super(limit, () => new TaskChunk(rows), undefined, rows);
  }

  append(runs: TaskRuns, computation: LiveComputation): void {
    for (let from = 0; from < runs.count; ) {
      const chunk = this.next();
      const to = Math.min(runs.count, from + chunk.room);
      chunk.append(runs, from, to, computation);
      from = to;
    }
    this.trim();
  }
}
