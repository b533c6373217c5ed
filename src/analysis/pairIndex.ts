// Groups of rows by two numbers, e.g. (host, worker) or (worker, key): every distinct pair gets a dense number.

/** Pairs in the order of their first appearance. Few distinct `first` per `second` are cheapest: they are chained. */
export class PairIndex {
  /** By dense number. */
  readonly firsts: number[] = [];
  readonly seconds: number[] = [];
  /** Latest pair by `second`, and from each pair the one before it with the same `second`; -1 ends the chain. */
  readonly #latest: Int32Array;
  readonly #previous: number[] = [];
  readonly #far = new Map<number, number>();
  readonly #range: number;

  /** `second` is always below `range`. */
  constructor(range: number) {
    this.#range = range;
    this.#latest = new Int32Array(range).fill(-1);
  }

  get length(): number {
    return this.firsts.length;
  }

  of(first: number, second: number): number {
    let steps = 0;
    for (let pair = this.#latest[second]!; pair >= 0; pair = this.#previous[pair]!) {
      if (this.firsts[pair] === first) return pair;
      if (++steps === MAX_STEPS) return this.#ofMany(first, second);
    }
    const pair = this.#add(first, second);
    this.#previous.push(this.#latest[second]!);
    this.#latest[second] = pair;
    return pair;
  }

  #add(first: number, second: number): number {
    this.seconds.push(second);
    return this.firsts.push(first) - 1;
  }

  /** For a `second` with many partners: pairs beyond the first few are found in a map, and are not chained. */
  #ofMany(first: number, second: number): number {
    const code = first * this.#range + second;
    const known = this.#far.get(code);
    if (known !== undefined) return known;
    const pair = this.#add(first, second);
    this.#previous.push(-1);
    this.#far.set(code, pair);
    return pair;
  }
}

const MAX_STEPS = 8;
