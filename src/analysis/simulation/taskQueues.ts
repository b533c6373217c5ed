// Queues of ready tasks, one for each worker and one for all: pairing heaps that share two arrays, because a task is in
// at most one of them. A smaller id runs earlier. Adding costs a few nanoseconds, taking O(log n) on average.

const NONE = -1;

export class TaskQueues {
  readonly #roots: Int32Array;
  /** First child and next sibling by task. */
  readonly #child: Int32Array;
  readonly #sibling: Int32Array;
  readonly #sizes: Int32Array;

  /** Queues `0 .. queues`, for tasks `0 .. tasks`. */
  constructor(queues: number, tasks: number) {
    this.#roots = new Int32Array(queues).fill(NONE);
    this.#sizes = new Int32Array(queues);
    this.#child = new Int32Array(tasks).fill(NONE);
    this.#sibling = new Int32Array(tasks).fill(NONE);
  }

  /** How many tasks are in the queue. */
  size(queue: number): number {
    return this.#sizes[queue]!;
  }

  /** The task that runs next, or -1. */
  min(queue: number): number {
    return this.#roots[queue]!;
  }

  add(queue: number, task: number): void {
    this.#sizes[queue]! += 1;
    const root = this.#roots[queue]!;
    this.#roots[queue] = root === NONE ? task : this.#meld(root, task);
  }

  /** Removes `min(queue)`; the queue is not empty. */
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

  /** In pairs from the left, then all pairs from the right: what makes the cost logarithmic. */
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
