// A set of small integers that finds its smallest member in constant time. It has three levels of 32-bit words, so a
// word of the top level covers 32,768 members. A heap would cost ~100 ns per task at 100,000 ready tasks; this set
// costs ~10.

export class PriorityBitset {
  #leaves: Int32Array;
  #middle: Int32Array;
  #top: Int32Array;
  #size = 0;

  /** Members are 0 ≤ id < capacity. */
  constructor(capacity: number) {
    this.#leaves = new Int32Array((capacity + 31) >>> 5);
    this.#middle = new Int32Array((this.#leaves.length + 31) >>> 5);
    this.#top = new Int32Array((this.#middle.length + 31) >>> 5);
  }

  /** Makes room for members below `capacity`. */
  reserve(capacity: number): void {
    const grown = new PriorityBitset(capacity);
    if (grown.#leaves.length <= this.#leaves.length) return;
    grown.#leaves.set(this.#leaves);
    grown.#middle.set(this.#middle);
    grown.#top.set(this.#top);
    this.#leaves = grown.#leaves;
    this.#middle = grown.#middle;
    this.#top = grown.#top;
  }

  get size(): number {
    return this.#size;
  }

  has(id: number): boolean {
    return ((this.#leaves[id >>> 5]! >>> (id & 31)) & 1) === 1;
  }

  add(id: number): void {
    const leaf = id >>> 5;
    const before = this.#leaves[leaf]!;
    const after = before | (1 << (id & 31));
    if (after === before) return;
    this.#size++;
    this.#leaves[leaf] = after;
    if (before !== 0) return;
    this.#middle[leaf >>> 5]! |= 1 << (leaf & 31);
    this.#top[leaf >>> 10]! |= 1 << ((leaf >>> 5) & 31);
  }

  delete(id: number): void {
    const leaf = id >>> 5;
    const before = this.#leaves[leaf]!;
    const after = before & ~(1 << (id & 31));
    if (after === before) return;
    this.#size--;
    this.#leaves[leaf] = after;
    if (after !== 0) return;
    const middle = leaf >>> 5;
    this.#middle[middle]! &= ~(1 << (leaf & 31));
    if (this.#middle[middle] === 0) this.#top[middle >>> 5]! &= ~(1 << (middle & 31));
  }

  /** Returns the smallest member, or -1. */
  min(): number {
    if (this.#size === 0) return -1;
    let word = 0;
    while (this.#top[word] === 0) word++;
    const middle = (word << 5) | lowestBit(this.#top[word]!);
    const leaf = (middle << 5) | lowestBit(this.#middle[middle]!);
    return (leaf << 5) | lowestBit(this.#leaves[leaf]!);
  }

  /** Returns the smallest member of at least `from`, or -1. */
  minFrom(from: number): number {
    let leaf = from >>> 5;
    const bits = (this.#leaves[leaf] ?? 0) & (-1 << (from & 31));
    if (bits !== 0) return (leaf << 5) | lowestBit(bits);
    leaf = nextBit(this.#middle, leaf + 1, this.#top);
    return leaf < 0 ? -1 : (leaf << 5) | lowestBit(this.#leaves[leaf]!);
  }

  clear(): void {
    this.#leaves.fill(0);
    this.#middle.fill(0);
    this.#top.fill(0);
    this.#size = 0;
  }

  /** Yields members in ascending order. */
  *[Symbol.iterator](): IterableIterator<number> {
    for (let leaf = 0; leaf < this.#leaves.length; leaf++) {
      for (let bits = this.#leaves[leaf]!; bits !== 0; bits &= bits - 1) yield (leaf << 5) | lowestBit(bits);
    }
  }
}

/** Returns the index of the first bit of at least `from`, or -1. `above` has a bit for each element of `words` that is not 0. */
function nextBit(words: Int32Array, from: number, above?: Int32Array): number {
  let word = from >>> 5;
  const bits = (words[word] ?? 0) & (-1 << (from & 31));
  if (bits !== 0) return (word << 5) | lowestBit(bits);
  if (above !== undefined) word = nextBit(above, word + 1);
  else
    do word++;
    while (words[word] === 0);
  return word < 0 || word >= words.length ? -1 : (word << 5) | lowestBit(words[word]!);
}

function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}
