// Groups rows by two numbers, e.g. (host, worker) or (worker, key). Every distinct pair has a dense number.
import { Int32Column } from '../base/columns.js';
import { getOrMake } from '../base/lookUps.js';

/** Pairs in the order of their first appearance. Pairs with the same `second` are chained, so they should be few. */
export class PairIndex {
  readonly #firsts = new Int32Column();
  readonly #seconds = new Int32Column();
  /** Latest pair by `second`; -1 if there is none. */
  readonly #latest: Int32Array;
  /** Previous pair with the same `second`; -1 ends the chain. */
  readonly #previous = new Int32Column();
  readonly #far = new Map<number, number>();
  readonly #range: number;

  /**
   * @param range upper limit of `second`, exclusive
   * @param expected number of pairs; 0 if unknown
   */
  constructor(range: number, expected = 0) {
    this.#range = range;
    this.#latest = new Int32Array(range).fill(-1);
    for (const column of [this.#firsts, this.#seconds, this.#previous]) column.expected = expected;
  }

  get length(): number {
    return this.#firsts.length;
  }

  /** First number of each pair. */
  get firsts(): Int32Array {
    return this.#firsts.take();
  }

  get seconds(): Int32Array {
    return this.#seconds.take();
  }

  of(first: number, second: number): number {
    let steps = 0;
    const latest = this.#latest[second]!;
    for (let pair = latest; pair >= 0; pair = this.#previous.values[pair]!) {
      if (this.#firsts.values[pair] === first) return pair;
      if (++steps === MAX_STEPS) return this.#ofMany(first, second);
    }
    this.#latest[second] = this.#add(first, second, latest);
    return this.#latest[second]!;
  }

  #add(first: number, second: number, previous: number): number {
    this.#firsts.push(first);
    this.#seconds.push(second);
    this.#previous.push(previous);
    return this.length - 1;
  }

  /** Finds a pair in a map, for a `second` with more pairs than the chain may have. */
  #ofMany(first: number, second: number): number {
    return getOrMake(this.#far, first * this.#range + second, () => this.#add(first, second, -1));
  }
}

const MAX_STEPS = 8;
