// Simulates a run on one thread, task by task: which tasks are ready, why each result is held, and how many are held.
// Both strategies place tasks through it. Tasks that cost no memory are placed at once.
import { type Adjacency, degree } from './adjacency.js';

const WAITING = 0;
const QUEUED = 1;
const DONE = 2;

/** A run in progress. Positions only grow: `sequence[0 … length - 1]` is final. */
export class SimulatedRun {
  readonly sequence: Int32Array;
  /** Tasks placed so far. */
  length = 0;
  /** Largest number of results held at once so far. A new result counts before its dependencies are freed. */
  peak = 0;
  /** Dependents of each task that have not run. A result with none left is freed unless it is kept. */
  readonly remaining: Int32Array;
  readonly #missing: Int32Array;
  /** Exclusive or over the dependents that have not run, which is the id of the last remaining one. */
  readonly #last: Int32Array;
  readonly #state: Uint8Array;
  readonly #eager: Int32Array;
  readonly #path: Int32Array;
  readonly #cursor: Int32Array;
  readonly #dependencies: Adjacency;
  readonly #dependents: Adjacency;
  readonly #requested: Uint8Array;
  #held = 0;

  /** The order of each row of `dependencies` is the order in which `complete` computes them. */
  constructor(dependencies: Adjacency, dependents: Adjacency, requested: Uint8Array) {
    const size = dependencies.offsets.length - 1;
    this.#dependencies = dependencies;
    this.#dependents = dependents;
    this.#requested = requested;
    this.sequence = new Int32Array(size);
    this.remaining = new Int32Array(size);
    this.#missing = new Int32Array(size);
    this.#last = new Int32Array(size);
    this.#state = new Uint8Array(size);
    this.#eager = new Int32Array(size);
    this.#path = new Int32Array(size);
    this.#cursor = dependencies.offsets.slice(0, size);
    for (let task = 0; task < size; task++) {
      this.#missing[task] = degree(dependencies, task);
      this.remaining[task] = degree(dependents, task);
      let last = 0;
      for (let edge = dependents.offsets[task]!; edge < dependents.offsets[task + 1]!; edge++) {
        last ^= dependents.targets[edge]!;
      }
      this.#last[task] = last;
    }
  }

  isDone(task: number): boolean {
    return this.#state[task] === DONE;
  }

  /** Counts the dependencies of `task` that have not run. */
  missing(task: number): number {
    return this.#missing[task]!;
  }

  /** Runs `task` after all its dependencies, depth first. */
  complete(task: number): void {
    const path = this.#path;
    const cursor = this.#cursor;
    const state = this.#state;
    const { offsets, targets } = this.#dependencies;
    let depth = 0;
    path[0] = task;
    while (depth >= 0) {
      const current = path[depth]!;
      let next = cursor[current]!;
      const end = state[current] === DONE ? next : offsets[current + 1]!;
      while (next < end && state[targets[next]!] === DONE) next++;
      cursor[current] = next;
      if (next < end) path[++depth] = targets[next]!;
      else {
        if (state[current] !== DONE) this.run(current);
        depth--;
      }
    }
  }

  /**
   * Runs `task`, whose dependencies have run, and then every ready task that frees at least one result, until there
   * are none. Running those first is never worse: any next task adds its result to those held now, and afterwards no
   * more results are held than before.
   */
  run(task: number): void {
    const eager = this.#eager;
    let count = 0;
    let current = task;
    for (;;) {
      count = this.#place(current, count);
      if (count === 0) return;
      current = eager[--count]!;
    }
  }

  #place(task: number, eagerCount: number): number {
    const { remaining } = this;
    const missing = this.#missing;
    const requested = this.#requested;
    const last = this.#last;
    let count = eagerCount;
    let held = this.#held + 1;
    this.#state[task] = DONE;
    this.sequence[this.length++] = task;
    if (held > this.peak) this.peak = held;
    const below = this.#dependencies;
    for (let edge = below.offsets[task]!, end = below.offsets[task + 1]!; edge < end; edge++) {
      const dependency = below.targets[edge]!;
      last[dependency]! ^= task;
      const uses = --remaining[dependency]!;
      if (uses > 1 || requested[dependency] === 1) continue;
      if (uses === 0) held--;
      else if (missing[last[dependency]!] === 0) count = this.#queue(last[dependency]!, count);
    }
    this.#held = held;
    const above = this.#dependents;
    for (let edge = above.offsets[task]!, end = above.offsets[task + 1]!; edge < end; edge++) {
      const dependent = above.targets[edge]!;
      if (--missing[dependent]! === 0 && this.#freesResult(dependent)) count = this.#queue(dependent, count);
    }
    return count;
  }

  #queue(task: number, count: number): number {
    if (this.#state[task] !== WAITING) return count;
    this.#state[task] = QUEUED;
    this.#eager[count] = task;
    return count + 1;
  }

  /** Returns whether running `task` now frees one of its dependencies. */
  #freesResult(task: number): boolean {
    const { offsets, targets } = this.#dependencies;
    for (let edge = offsets[task]!, end = offsets[task + 1]!; edge < end; edge++) {
      const dependency = targets[edge]!;
      if (this.remaining[dependency] === 1 && this.#requested[dependency] !== 1) return true;
    }
    return false;
  }
}
