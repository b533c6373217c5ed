// Collects the parts of a critical path in columns, because a path may have millions of parts.
import { Float64Column, Int32Column, Uint8Column } from '../../base/columns.js';
import { addTo } from '../../base/lookUps.js';

/**
 * Kinds of parts of the path.
 *
 * - `unknown`: the trace does not show the cause of a wait.
 * - `transfer`: inputs came from another worker, or arguments from the program.
 * - `awaiting`: a task awaited promises. Only the sum of a task's waits is recorded, and is placed at the first of
 *   them.
 * - `profiler`: the profiler of the task's thread started.
 * - `worker start`: the worker was still starting.
 * - `paused`: the worker started no tasks because its memory was short.
 * - `recomputed`: a task ran again because its result was lost with a worker.
 * - `run without result`: a run was cancelled, exceeded its timeout or ended with its worker.
 * - `disk`, `gc`: disk access and garbage collection, also on a worker that sends an input.
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
  'worker start',
  'paused',
  'recomputed',
  'run without result',
] as const;
export type PathKind = (typeof PATH_KINDS)[number];

const KIND_NUMBERS = new Map<PathKind, number>(PATH_KINDS.map((kind, i) => [kind, i]));
const WAITING = PATH_KINDS.indexOf('waiting for a worker');

/** Collects parts from the end of the path to its beginning, without gaps. */
export class PathParts {
  readonly windowStart: number;
  /** Start of the part that was added last, which is the end of the next part. */
  cursor: number;
  readonly #kind = new Uint8Column();
  readonly #row = new Int32Column();
  readonly #worker = new Int32Column();
  readonly #behind = new Int32Column();
  readonly #start = new Float64Column();
  /** Prefix by row of tasks. */
  readonly #prefixes: Int32Array;
  readonly #charges = new Map<number, number>();

  constructor(windowStart: number, windowStop: number, prefixes: Int32Array) {
    this.windowStart = windowStart;
    this.cursor = windowStop;
    this.#prefixes = prefixes;
  }

  /** True if the parts cover the whole window. */
  get isDone(): boolean {
    return this.cursor <= this.windowStart;
  }

  get length(): number {
    return this.#kind.length;
  }

  /**
   * Adds the part from `from` to the cursor, unless it is empty. `row` is the task of the part, `owner` the task with
   * the prefix that caused it, or -1.
   */
  back(from: number, kind: PathKind, row: number, worker: number, owner = row): void {
    this.#add(from, KIND_NUMBERS.get(kind)!, row, worker, -1, owner, kind);
  }

  /**
   * Adds a part in which `row` waited for its worker, which was `doing` something for the task `owner` (-1 for none).
   */
  wait(from: number, row: number, worker: number, owner: number, doing: PathKind): void {
    const behind = owner < 0 ? -1 : this.#prefixes[owner]!;
    this.#add(from, WAITING, row, worker, behind, owner, doing);
  }

  /** Adds to the sums by prefix. They are separate from the parts, so that parts with different `doing` can merge. */
  #charge(owner: number, doing: PathKind, seconds: number): void {
    const prefix = owner < 0 ? -1 : this.#prefixes[owner]!;
    if (prefix < 0) return;
    const group = prefix * PATH_KINDS.length + KIND_NUMBERS.get(doing)!;
    addTo(this.#charges, group, seconds);
  }

  #add(
    from: number,
    number: number,
    row: number,
    worker: number,
    behind: number,
    owner: number,
    doing: PathKind,
  ): void {
    const start = Math.max(from, this.windowStart);
    if (!(start < this.cursor)) return;
    this.#charge(owner, doing, this.cursor - start);
    this.cursor = start;
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

  /** Returns the parts in order of time, and releases the collected columns. */
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
      charges: Array.from(this.#charges, ([group, seconds]) => ({
        prefix: Math.floor(group / PATH_KINDS.length),
        kind: group % PATH_KINDS.length,
        seconds,
      })),
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
  /** Prefix of the tasks that ran during a wait, as an id of the trace's strings, or -1. */
  readonly behind: Int32Array;
  readonly start: Float64Array;
  readonly stop: Float64Array;
  /** Seconds by the prefix that caused them (an id of the trace's strings) and by kind (an index into PATH_KINDS). */
  readonly charges: readonly { readonly prefix: number; readonly kind: number; readonly seconds: number }[];
}
