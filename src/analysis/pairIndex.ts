// Groups of rows by two numbers, e.g. (host, worker) or (worker, key): every distinct pair gets a dense number.
import { Int32Column } from '../trace/columns.js';

/** Pairs in the order of their first appearance. Few distinct `first` per `second` are cheapest: they are chained. */
export class PairIndex {
  readonly #firsts = new Int32Column();
  readonly #seconds = new Int32Column();
  /** Latest pair by `second`, and from each pair the one before it with the same `second`; -1 ends the chain. */
  readonly #latest: Int32Array;
  readonly #previous = new Int32Column();
  readonly #far = new Map<number, number>();
  readonly #range: number;

  /** `second` is always below `range`. */
  constructor(range: number) {
    this.#range = range;
    this.#latest = new Int32Array(range).fill(-1);
  }

  get length(): number {
    return this.#firsts.length;
  }

  /** By dense number. */
  get firsts(): Int32Array {
    return this.#firsts.take();
  }

  get seconds(): Int32Array {
    return this.#seconds.take();
  }

  of(first: number, second: number): number {
    let steps = 0;
    const firsts = this.#firsts.values;
    const previous = this.#previous.values;
    for (let pair = this.#latest[second]!; pair >= 0; pair = previous[pair]!) {
      if (firsts[pair] === first) return pair;
      if (++steps === MAX_STEPS) return this.#ofMany(first, second);
    }
    const pair = this.#add(first, second);
    this.#previous.push(this.#latest[second]!);
    this.#latest[second] = pair;
    return pair;
  }

  #add(first: number, second: number): number {
    this.#seconds.push(second);
    this.#firsts.push(first);
    return this.#firsts.length - 1;
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
