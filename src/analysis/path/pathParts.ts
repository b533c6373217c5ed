// The parts of a critical path as columns: a chain of a million tasks is a path of millions of parts.
import { Float64Column, Int32Column, Uint8Column } from '../../trace/columns.js';

/**
 * What happened in a part. `unknown`: the trace does not say what a task was waiting for. `awaiting`: a task waited for its
 * promise; of each only the sum is known, which stands where it began to. `profiler`: its thread's profiler started.
 */
export const PATH_KINDS = [
  'compute',
  'transfer',
  'disk',
  'serialization',
  'gc',
  'waiting for a worker',
  'waiting for the scheduler',
  'client time',
  'unknown',
  'awaiting',
  'profiler',
] as const;
export type PathKind = (typeof PATH_KINDS)[number];

const KIND_NUMBERS = new Map<PathKind, number>(PATH_KINDS.map((kind, i) => [kind, i]));

/** Collected from the end to the beginning, without gaps: each part begins earlier and ends where the one before began. */
export class PathParts {
  readonly windowStart: number;
  /** Where the last part began. */
  cursor: number;
  readonly #kind = new Uint8Column();
  readonly #row = new Int32Column();
  readonly #worker = new Int32Column();
  readonly #behind = new Int32Column();
  readonly #start = new Float64Column();

  constructor(windowStart: number, windowStop: number) {
    this.windowStart = windowStart;
    this.cursor = windowStop;
  }

  /** Whether the whole window is covered. */
  get isDone(): boolean {
    return this.cursor <= this.windowStart;
  }

  get length(): number {
    return this.#kind.length;
  }

  /**
   * The stretch from `from` to the cursor; nothing if there is none. `row` is the task that it belongs to, `behind` the
   * prefix of the task that it waited for; -1: none.
   */
  back(from: number, kind: PathKind, row: number, worker: number, behind = -1): void {
    const start = Math.max(from, this.windowStart);
    if (!(start < this.cursor)) return;
    this.cursor = start;
    const number = KIND_NUMBERS.get(kind)!;
    const last = this.length - 1;
    const continues =
      last >= 0 &&
      this.#kind.values[last] === number &&
      this.#row.values[last] === row &&
      this.#behind.values[last] === behind &&
      this.#worker.values[last] === worker;
    if (continues) {
      this.#start.values[last] = start;
      return;
    }
    this.#kind.push(number);
    this.#row.push(row);
    this.#worker.push(worker);
    this.#behind.push(behind);
    this.#start.push(start);
  }

  /** The parts from the first to the last. `stop` of each is `start` of the next. The walk ends with it. */
  columns(windowStop: number): PathColumns {
    const start = this.#start.take().reverse();
    const stop = new Float64Array(start.length);
    stop.set(start.subarray(1));
    if (stop.length > 0) stop[stop.length - 1] = windowStop;
    return {
      length: start.length,
      kind: this.#kind.take().reverse(),
      row: this.#row.take().reverse(),
      worker: this.#worker.take().reverse(),
      behind: this.#behind.take().reverse(),
      start,
      stop,
    };
  }
}

export interface PathColumns {
  readonly length: number;
  /** Index into PATH_KINDS. */
  readonly kind: Uint8Array;
  /** Row of tasks, or -1. */
  readonly row: Int32Array;
  /** Row of workers, or -1. */
  readonly worker: Int32Array;
  /** Of a wait: the prefix of what ran meanwhile, an id of the trace's strings, or -1. */
  readonly behind: Int32Array;
  readonly start: Float64Array;
  readonly stop: Float64Array;
}
