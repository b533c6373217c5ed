// A priority queue of dense ids with small integer keys that change often: one doubly linked list per key, and a set of
// the keys in use.
import { PriorityBitset } from '../../base/priorityBitset.js';

const NONE = -1;

export class MinBuckets {
  readonly #heads: Int32Array;
  readonly #next: Int32Array;
  readonly #previous: Int32Array;
  readonly #keys: Int32Array;
  readonly #used: PriorityBitset;

  /** Creates a queue for ids below `size` and keys of 0 to `maxKey`. */
  constructor(size: number, maxKey: number) {
    this.#heads = new Int32Array(maxKey + 1).fill(NONE);
    this.#next = new Int32Array(size);
    this.#previous = new Int32Array(size);
    this.#keys = new Int32Array(size).fill(NONE);
    this.#used = new PriorityBitset(maxKey + 1);
  }

  /** Inserts or moves `id`, in front of all others with the same key. */
  set(id: number, key: number): void {
    this.delete(id);
    const head = this.#heads[key]!;
    this.#keys[id] = key;
    this.#next[id] = head;
    this.#previous[id] = NONE;
    this.#heads[key] = id;
    if (head === NONE) this.#used.add(key);
    else this.#previous[head] = id;
  }

  /** Removes `id`, if present. */
  delete(id: number): void {
    const key = this.#keys[id]!;
    if (key === NONE) return;
    this.#keys[id] = NONE;
    const next = this.#next[id]!;
    const previous = this.#previous[id]!;
    if (next !== NONE) this.#previous[next] = previous;
    if (previous !== NONE) this.#next[previous] = next;
    else {
      this.#heads[key] = next;
      if (next === NONE) this.#used.delete(key);
    }
  }

  /** Returns the id that was set last among those with the smallest key, or -1. */
  first(): number {
    const key = this.#used.min();
    return key < 0 ? NONE : this.#heads[key]!;
  }

  /** Returns the id after `id` among those with the same key, or -1. */
  after(id: number): number {
    return this.#next[id]!;
  }
}
