// A set of pairs (task, worker) for copies of results, with open addressing. A pair takes some 20 ns. Results with a
// single dependent are not added, so there are at most as many pairs as edges.

const MIN_SLOTS = 1024;
const FREE = -1;

export class Replicas {
  #tasks = new Int32Array(MIN_SLOTS).fill(FREE);
  #workers = new Int32Array(MIN_SLOTS);
  #size = 0;

  has(task: number, worker: number): boolean {
    return this.#tasks[this.#slot(task, worker)] === task;
  }

  add(task: number, worker: number): void {
    const slot = this.#slot(task, worker);
    if (this.#tasks[slot] === task) return;
    this.#tasks[slot] = task;
    this.#workers[slot] = worker;
    this.#size += 1;
    if (this.#size * 2 > this.#tasks.length) this.#grow();
  }

  /** Returns the slot of a pair, or the free slot for it. */
  #slot(task: number, worker: number): number {
    const mask = this.#tasks.length - 1;
    let hash = Math.imul(task, 0x9e3779b1) ^ Math.imul(worker + 1, 0x85ebca6b);
    hash ^= hash >>> 15;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const held = this.#tasks[slot]!;
      if (held === FREE || (held === task && this.#workers[slot] === worker)) return slot;
    }
  }

  #grow(): void {
    const [tasks, workers] = [this.#tasks, this.#workers];
    this.#tasks = new Int32Array(tasks.length * 2).fill(FREE);
    this.#workers = new Int32Array(tasks.length * 2);
    for (let old = 0; old < tasks.length; old++) {
      if (tasks[old] === FREE) continue;
      const slot = this.#slot(tasks[old]!, workers[old]!);
      this.#tasks[slot] = tasks[old]!;
      this.#workers[slot] = workers[old]!;
    }
  }
}
