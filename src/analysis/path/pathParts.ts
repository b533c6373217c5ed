// The parts of a critical path as columns: a chain of a million tasks is a path of millions of parts.
import { Float64Column, Int32Column, Uint8Column } from '../../trace/columns.js';

/**
 * What happened in a part. `unknown`: the trace does not say what a task was waiting for. `awaiting`: a task waited for its
 * promise; of each only the sum is known, which stands where it began to. `profiler`: its thread's profiler started. `worker
 * start`: the worker was not there yet. `paused`: its memory was short, so that it began nothing. `recomputed`: a task ran whose
 * result was lost with a worker. `disk` and `gc` are also those of the worker that sends an input.
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
] as const;
export type PathKind = (typeof PATH_KINDS)[number];

const KIND_NUMBERS = new Map<PathKind, number>(PATH_KINDS.map((kind, i) => [kind, i]));
const WAITING = PATH_KINDS.indexOf('waiting for a worker');

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
  /** By row of tasks. */
  readonly #prefixes: Int32Array;
  readonly #charges = new Map<number, number>();

  constructor(windowStart: number, windowStop: number, prefixes: Int32Array) {
    this.windowStart = windowStart;
    this.cursor = windowStop;
    this.#prefixes = prefixes;
  }

  /** Whether the whole window is covered. */
  get isDone(): boolean {
    return this.cursor <= this.windowStart;
  }

  get length(): number {
    return this.#kind.length;
  }

  /**
   * The stretch from `from` to the cursor; nothing if there is none. `row` is the task that it belongs to, `owner` the task
   * whose prefix caused it; -1: none.
   */
  back(from: number, kind: PathKind, row: number, worker: number, owner = row): void {
    this.#add(from, KIND_NUMBERS.get(kind)!, row, worker, -1, owner, kind);
  }

  /** The same where `row` waited for its worker, which ran the task `owner` (-1: none) and was `doing` that. */
  wait(from: number, row: number, worker: number, owner: number, doing: PathKind): void {
    const behind = owner < 0 ? -1 : this.#prefixes[owner]!;
    this.#add(from, WAITING, row, worker, behind, owner, doing);
  }

  /** What is summed up by prefix: parts of one kind merge whatever the worker did meanwhile, so that they stay few. */
  #charge(owner: number, doing: PathKind, seconds: number): void {
    const prefix = owner < 0 ? -1 : this.#prefixes[owner]!;
    if (prefix < 0) return;
    const group = prefix * PATH_KINDS.length + KIND_NUMBERS.get(doing)!;
    this.#charges.set(group, (this.#charges.get(group) ?? 0) + seconds);
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
  /** Of a wait: the prefix of what ran meanwhile, an id of the trace's strings, or -1. */
  readonly behind: Int32Array;
  readonly start: Float64Array;
  readonly stop: Float64Array;
  /** Seconds by the prefix that caused them, an id of the trace's strings, and what was done, an index into PATH_KINDS. */
  readonly charges: readonly { readonly prefix: number; readonly kind: number; readonly seconds: number }[];
}
