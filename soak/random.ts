// Random numbers of a seed: the same seed gives the same choices, on every machine and Node.

/** Spreads the bits of a whole number over 32 bits, so that neighbouring seeds have nothing in common. */
function mixed(value: number): number {
  let word = value | 0;
  word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
  return (word ^ (word >>> 15)) >>> 0;
}

const STEP = 0x9e3779b9;

/** The seed of the round with this index. The first round has the soak's own seed, so that a seed repeats a round. */
export function seedOf(seed: number, index: number): number {
  return index === 0 ? seed : mixed(mixed(seed) + Math.imul(index, STEP));
}

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A whole number from 0 to 2^32 - 1. */
  word(): number {
    this.#state = (this.#state + STEP) | 0;
    return mixed(this.#state);
  }

  /** A whole number from 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor((this.word() / 2 ** 32) * count);
  }

  /** True in this share of the calls. */
  chance(share: number): boolean {
    return this.word() / 2 ** 32 < share;
  }

  /** @throws RangeError if the list is empty */
  pick<T>(list: readonly T[]): T {
    const index = this.below(list.length);
    if (!(index in list)) throw new RangeError('There is nothing to choose from.');
    return list[index] as T;
  }

  /**
   * A generator of its own. What depends on time (when a worker is killed) takes its choices from a fork, so that the other
   * choices do not depend on time.
   */
  fork(): Random {
    return new Random(this.word());
  }
}
