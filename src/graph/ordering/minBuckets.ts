// A priority queue of dense ids with small integer keys that change often: one doubly linked list per key, and a tree
// of bit words over the keys. A bit stands for 32 words of the level below. Every operation takes constant time for
// keys below 2 ** 20, however far apart they are.

const NONE = -1;

export class MinBuckets {
  readonly #heads: Int32Array;
  readonly #next: Int32Array;
  readonly #previous: Int32Array;
  readonly #keys: Int32Array;
  /** `levels[0]` has a bit per key, `levels[i + 1]` a bit per word of `levels[i]`; the last one is a single word. */
  readonly #levels: Int32Array[] = [];

  /** Creates a queue for ids below `size` and keys of 0 to `maxKey`. */
  constructor(size: number, maxKey: number) {
    this.#heads = new Int32Array(maxKey + 1).fill(NONE);
    this.#next = new Int32Array(size);
    this.#previous = new Int32Array(size);
    this.#keys = new Int32Array(size).fill(NONE);
    let words = maxKey + 1;
    do {
      words = (words + 31) >>> 5;
      this.#levels.push(new Int32Array(words));
    } while (words > 1);
  }

  /** Inserts or moves `id`, in front of all others with the same key. */
  set(id: number, key: number): void {
    this.delete(id);
    const head = this.#heads[key]!;
    this.#keys[id] = key;
    this.#next[id] = head;
    this.#previous[id] = NONE;
    this.#heads[key] = id;
    if (head === NONE) this.#mark(key);
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
      if (next === NONE) this.#unmark(key);
    }
  }

  /** Returns the id that was set last among those with the smallest key, or -1. */
  first(): number {
    let index = 0;
    for (let level = this.#levels.length - 1; level >= 0; level--) {
      const word = this.#levels[level]![index]!;
      if (word === 0) return NONE;
      index = (index << 5) | (31 - Math.clz32(word & -word));
    }
    return this.#heads[index]!;
  }

  /** Returns the id after `id` among those with the same key, or -1. */
  after(id: number): number {
    return this.#next[id]!;
  }

  #mark(key: number): void {
    let index = key;
    for (const words of this.#levels) {
      const bit = 1 << (index & 31);
      index >>>= 5;
      const word = words[index]!;
      words[index] = word | bit;
      if (word !== 0) return;
    }
  }

  #unmark(key: number): void {
    let index = key;
    for (const words of this.#levels) {
      const bit = 1 << (index & 31);
      index >>>= 5;
      words[index]! &= ~bit;
      if (words[index] !== 0) return;
    }
  }
}
