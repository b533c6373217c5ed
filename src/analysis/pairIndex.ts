// Groups rows by two numbers, e.g. (host, worker) or (worker, key). Every distinct pair has a dense number.
/** Pairs in the order of their first appearance. Pairs with the same `second` are chained, so they should be few. */
export class PairIndex {
  #length = 0;
  #firsts: Int32Array;
  #seconds: Int32Array;
  /** Latest pair by `second`; -1 if there is none. */
  readonly #latest: Int32Array;
  /** Previous pair with the same `second`; -1 ends the chain. Undefined until a `second` has two pairs. */
  #previous: Int32Array | undefined;
  readonly #far = new Map<number, number>();
  readonly #range: number;

  /**
   * @param range upper limit of `second`, exclusive
   * @param expected number of pairs that fit without growing
   */
  constructor(range: number, expected = 256) {
    this.#range = range;
    this.#firsts = new Int32Array(expected);
    this.#seconds = new Int32Array(expected);
    this.#latest = new Int32Array(range).fill(-1);
  }

  get length(): number {
    return this.#length;
  }

  /** First number of each pair. */
  get firsts(): Int32Array {
    return this.#firsts.subarray(0, this.#length);
  }

  get seconds(): Int32Array {
    return this.#seconds.subarray(0, this.#length);
  }

  of(first: number, second: number): number {
    let steps = 0;
    const latest = this.#latest[second]!;
    for (let pair = latest; pair >= 0; pair = this.#previous?.[pair] ?? -1) {
      if (this.#firsts[pair] === first) return pair;
      if (++steps === MAX_STEPS) return this.#ofMany(first, second);
    }
    const pair = this.#add(first, second);
    if (latest >= 0) {
      this.#previous ??= new Int32Array(this.#firsts.length).fill(-1);
      this.#previous[pair] = latest;
    }
    this.#latest[second] = pair;
    return pair;
  }

  #add(first: number, second: number): number {
    const pair = this.#length++;
    if (pair === this.#firsts.length) this.#grow();
    this.#firsts[pair] = first;
    this.#seconds[pair] = second;
    return pair;
  }

  #grow(): void {
    const size = this.#firsts.length * 2;
    const grown = (array: Int32Array): Int32Array => {
      const copy = new Int32Array(size).fill(-1, array.length);
      copy.set(array);
      return copy;
    };
    this.#firsts = grown(this.#firsts);
    this.#seconds = grown(this.#seconds);
    if (this.#previous !== undefined) this.#previous = grown(this.#previous);
  }

  /** Finds a pair in a map, for a `second` with more pairs than the chain may have. */
  #ofMany(first: number, second: number): number {
    const code = first * this.#range + second;
    const known = this.#far.get(code);
    if (known !== undefined) return known;
    const pair = this.#add(first, second);
    this.#far.set(code, pair);
    return pair;
  }
}

const MAX_STEPS = 8;
