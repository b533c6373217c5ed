// Records which task a thread ran at which time, for as long as samples may need it. There may be millions of tasks of
// a microsecond and only hundreds of samples. So consecutive short tasks of one kind are kept as one interval.
import type { TaskIntervals } from '../../protocol/clusterObserver.js';

/** Longest interval of merged tasks, and longest gap inside it, in seconds. */
const TOGETHER_SECONDS = 1e-3;
const GAP_SECONDS = 5e-5;
const DEFAULT_CAPACITY = 1 << 15;

export class TaskIntervalLog {
  readonly #starts: Float64Array;
  readonly #stops: Float64Array;
  readonly #tasks: Float64Array;
  readonly #kinds: Int32Array;
  #count = 0;

  /** @param capacity most intervals that are kept, default 32,768; beyond it every second one is discarded */
  constructor(capacity: number = DEFAULT_CAPACITY) {
    this.#starts = new Float64Array(capacity);
    this.#stops = new Float64Array(capacity);
    this.#tasks = new Float64Array(capacity);
    this.#kinds = new Int32Array(capacity);
  }

  /** Adds a run of a task, in the order of starts. `kind` is equal for tasks of one prefix and span. Cost ~10 ns. */
  add(start: number, stop: number, task: number, kind: number): void {
    const last = this.#count - 1;
    if (
      last >= 0 &&
      this.#kinds[last] === kind &&
      stop - this.#starts[last]! < TOGETHER_SECONDS &&
      start - this.#stops[last]! < GAP_SECONDS
    ) {
      this.#stops[last] = stop;
      this.#tasks[last] = task;
      return;
    }
    if (this.#count === this.#starts.length) this.#thinOut();
    const at = this.#count++;
    this.#starts[at] = start;
    this.#stops[at] = stop;
    this.#tasks[at] = task;
    this.#kinds[at] = kind;
  }

  /** Returns the intervals that overlap a period, including the running task, if any. Valid until the next call. */
  between(
    start: number,
    stop: number,
    running?: { readonly start: number; readonly task: number },
  ): TaskIntervals {
    let from = 0;
    while (from < this.#count && this.#stops[from]! < start) from++;
    let to = from;
    while (to < this.#count && this.#starts[to]! <= stop) to++;
    const starts = Array.from(this.#starts.subarray(from, to));
    const stops = Array.from(this.#stops.subarray(from, to));
    const tasks = Array.from(this.#tasks.subarray(from, to));
    if (running !== undefined) {
      starts.push(running.start);
      stops.push(Number.POSITIVE_INFINITY);
      tasks.push(running.task);
    }
    return { starts, stops, tasks };
  }

  /** Discards intervals that ended before this time. */
  forget(before: number): void {
    let from = 0;
    while (from < this.#count && this.#stops[from]! < before) from++;
    for (const column of this.#columns()) column.copyWithin(0, from, this.#count);
    this.#count -= from;
  }

  /**
   * Discards every second interval. The interval before it is extended over it, so that its samples count for a
   * neighbouring task, and the busy time stays the same.
   */
  #thinOut(): void {
    const half = Math.ceil(this.#count / 2);
    for (let at = 0; at < half; at++) {
      for (const column of this.#columns()) column[at] = column[2 * at]!;
      const gone = 2 * at + 1;
      if (gone < this.#count && this.#starts[gone]! - this.#stops[2 * at]! < GAP_SECONDS)
        this.#stops[at] = this.#stops[gone]!;
    }
    this.#count = half;
  }

  #columns(): (Float64Array | Int32Array)[] {
    return [this.#starts, this.#stops, this.#tasks, this.#kinds];
  }
}
