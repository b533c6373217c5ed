// The rows of tasks that a live trace holds: chunks of columns, the oldest dropped whole. A row costs 56 bytes, 64 where the engine
// measures how long tasks waited for a core; what is the
// same for a batch of runs (computation, worker, time of the acknowledgement) stands once per batch.
import type { TaskRuns } from '../../protocol/clusterObserver.js';
import { Float64Column, Int32Column } from '../columns.js';
import type { LiveComputation } from './liveComputations.js';
import { type Piece, piecesOf } from './rowWindow.js';

/** Below this many rows a loop is cheaper than views of the arrays for `set`. */
const FEW = 24;

/** Rows that stand together, of one computation and on one worker. */
export interface SegmentRows {
  /** Rows of the chunk. */
  readonly from: number;
  readonly to: number;
  readonly computation: LiveComputation;
  readonly worker: number;
  readonly acknowledged: number;
}

export class TaskChunk {
  length = 0;
  /** Local ids. */
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
  /** Only where workers have several. */
  threads: Int32Array | undefined;
  /** Only where an engine measures them. */
  coreWaits: Float64Array | undefined;
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

  /** Copies `runs[from .. to)`, which must fit. */
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
    if (runs.coreWaits !== undefined) {
      this.coreWaits ??= new Float64Array(this.ids.length).fill(Number.NaN);
      this.coreWaits.set(runs.coreWaits.subarray(from, to), at);
    }
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
    this.nbytes.set(runs.nbytes.subarray(from, to), at);
    this.ready.set(runs.ready.subarray(from, to), at);
    this.dispatched.set(runs.dispatched.subarray(from, to), at);
    this.received.set(runs.received.subarray(from, to), at);
    this.started.set(runs.started.subarray(from, to), at);
    this.stopped.set(runs.stopped.subarray(from, to), at);
  }

  /** Those with rows in `[from .. to)`, cut to it. */
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

/** Rows of a chunk. They never change. */
export type TaskPiece = Piece<TaskChunk>;

export class TaskWindow {
  readonly #limit: number;
  readonly #chunkRows: number;
  #chunks: TaskChunk[] = [];
  /** Rows let go. */
  first = 0;
  /** Rows that were ever written. */
  end = 0;

  /** Holds at least `limit` rows once there are so many, and at most a chunk more. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#chunkRows = Math.max(64, Math.min(1 << 14, limit >> 3));
  }

  append(runs: TaskRuns, computation: LiveComputation): void {
    for (let from = 0; from < runs.count; ) {
      let chunk = this.#chunks.at(-1);
      if (chunk === undefined || chunk.room === 0) {
        chunk = new TaskChunk(this.#chunkRows);
        this.#chunks.push(chunk);
      }
      const to = Math.min(runs.count, from + chunk.room);
      chunk.append(runs, from, to, computation);
      from = to;
    }
    this.end += runs.count;
  }

  /** True if chunks were dropped because there are more rows than the window holds. */
  trim(): boolean {
    const before = this.first;
    while (this.end - this.first - this.#chunkRows >= this.#limit) this.dropOldest();
    return this.first > before;
  }

  /** The chunk that is being written stays. */
  dropOldest(): boolean {
    if (this.#chunks.length < 2) return false;
    this.first += this.#chunks.shift()?.length ?? 0;
    return true;
  }

  /** Rows `[from .. to)`, counted since the beginning; those let go are left out. */
  pieces(from: number, to: number): TaskPiece[] {
    return piecesOf(this.#chunks, this.first, from, to);
  }
}
