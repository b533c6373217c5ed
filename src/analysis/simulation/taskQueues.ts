// Queues of ready tasks: pairing heaps that share two arrays, because a task is in at most one queue. A smaller id runs
// earlier. Adding takes a few nanoseconds, taking O(log n) on average.

const NONE = -1;

export class TaskQueues {
  readonly #roots: Int32Array;
  /** First child by task, and below, next sibling by task. */
  readonly #child: Int32Array;
  readonly #sibling: Int32Array;
  readonly #sizes: Int32Array;

  /** Creates the queues `0 .. queues - 1` for the tasks `0 .. tasks - 1`. */
  constructor(queues: number, tasks: number) {
    this.#roots = new Int32Array(queues).fill(NONE);
    this.#sizes = new Int32Array(queues);
    this.#child = new Int32Array(tasks).fill(NONE);
    this.#sibling = new Int32Array(tasks).fill(NONE);
  }

  size(queue: number): number {
    return this.#sizes[queue]!;
  }

  /** Returns the task that runs next, or -1. */
  min(queue: number): number {
    return this.#roots[queue]!;
  }

  add(queue: number, task: number): void {
    this.#sizes[queue]! += 1;
    const root = this.#roots[queue]!;
    this.#roots[queue] = root === NONE ? task : this.#meld(root, task);
  }

  /** Removes and returns `min(queue)` of a non-empty queue. */
  take(queue: number): number {
    const task = this.#roots[queue]!;
    this.#sizes[queue]! -= 1;
    this.#roots[queue] = this.#meldAll(this.#child[task]!);
    this.#child[task] = NONE;
    return task;
  }

  #meld(a: number, b: number): number {
    const first = Math.min(a, b);
    const second = Math.max(a, b);
    this.#sibling[second] = this.#child[first]!;
    this.#child[first] = second;
    return first;
  }

  /** Melds siblings in pairs from the left, and then all pairs from the right, which makes the cost logarithmic. */
  #meldAll(first: number): number {
    const sibling = this.#sibling;
    let pairs = NONE;
    for (let at = first; at !== NONE; ) {
      const partner = sibling[at]!;
      const next = partner === NONE ? NONE : sibling[partner]!;
      sibling[at] = NONE;
      if (partner !== NONE) sibling[partner] = NONE;
      const winner = partner === NONE ? at : this.#meld(at, partner);
      sibling[winner] = pairs;
      pairs = winner;
      at = next;
    }
    let root = NONE;
    for (let at = pairs; at !== NONE; ) {
      const next = sibling[at]!;
      sibling[at] = NONE;
      root = root === NONE ? at : this.#meld(root, at);
      at = next;
    }
    return root;
  }
}
