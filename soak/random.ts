// Random numbers from a seed. Equal seeds give equal choices, on every machine and version of Node.

/** Spreads the bits of an integer over 32 bits, so that neighbouring seeds give unrelated numbers. */
function mixed(value: number): number {
  let word = value | 0;
  word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
  return (word ^ (word >>> 15)) >>> 0;
}

const STEP = 0x9e3779b9;

/**
 * Returns the seed of the round with this index. The first round has the soak's seed, so that `--seed` repeats a round.
 */
export function seedOf(seed: number, index: number): number {
  return index === 0 ? seed : mixed(mixed(seed) + Math.imul(index, STEP));
}

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Returns an integer from 0 to 2^32 - 1. */
  word(): number {
    this.#state = (this.#state + STEP) | 0;
    return mixed(this.#state);
  }

  /** Returns an integer from 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor((this.word() / 2 ** 32) * count);
  }

  /** Returns true in this share of the calls. */
  chance(share: number): boolean {
    return this.word() / 2 ** 32 < share;
  }

  /** Returns a random element. @throws RangeError if the list is empty */
  pick<T>(list: readonly T[]): T {
    const index = this.below(list.length);
    if (!(index in list)) throw new RangeError('There is nothing to choose from.');
    return list[index] as T;
  }

  /**
   * Returns a new generator. Time-dependent code, e.g. the killing of workers, uses a fork, so that the other choices
   * do not depend on time.
   */
  fork(): Random {
    return new Random(this.word());
  }
}
