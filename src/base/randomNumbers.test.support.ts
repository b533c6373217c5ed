// Numbers that look random and are the same in each run, for tests.

/** Returns a generator of deterministic numbers in [0, 1) (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns numbers in [0, 1) that do not compress. */
export function noise(length: number): Float64Array<ArrayBuffer> {
  const next = randomNumbers(1);
  // A number of the generator has 32 random bits, a float 53.
  return Float64Array.from({ length }, () => next() + next() / 2 ** 32);
}
