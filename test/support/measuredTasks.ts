// Tasks for the tests of measuring.
import { contextMeter, tasks } from 'longpole';

export const measured = tasks(import.meta.url, {
  spin,
  /** Computes until the first element of `gate`, an array in shared memory, is not 0. */
  spinUntilOpen(gate: Int32Array): number {
    let rounds = 0;
    while (Atomics.load(gate, 0) === 0) rounds = burn(rounds);
    return rounds;
  },
  /** Holds memory until the first element of `gate`, an array in shared memory, is not 0. Returns its size. */
  holdUntilOpen(gate: Int32Array, nbytes: number): number {
    const held = new Uint8Array(nbytes).fill(1);
    while (Atomics.load(gate, 0) === 0) Atomics.wait(gate, 0, 0);
    return held.length;
  },
  wait(seconds: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  },
  async read(nbytes: number): Promise<number> {
    using _meter = contextMeter.meter('I/O');
    await new Promise((resolve) => setImmediate(resolve));
    contextMeter.digestMetric('S3 Infrequent Access', nbytes, 'bytes');
    return nbytes;
  },
  fail(): never {
    throw new RangeError('no');
  },
  numbers(count: number): Float64Array {
    return new Float64Array(count).fill(1);
  },
  /** Returns numbers that do not compress. */
  noise(count: number, seed: number): Float64Array {
    const words = new Int32Array(2 * count);
    let word = seed + 1;
    for (let index = 0; index < words.length; index++) {
      word ^= word << 13;
      word ^= word >>> 17;
      word ^= word << 5;
      words[index] = word;
    }
    return new Float64Array(words.buffer);
  },
  /** Returns an object whose serialization takes that many seconds of computing. */
  slowToPack(seconds: number): { readonly numbers: Float64Array; readonly slow: number } {
    return {
      numbers: new Float64Array(100_000),
      get slow() {
        return spin(seconds);
      },
    };
  },
  total(...arrays: Float64Array[]): number {
    return arrays.reduce((sum, array) => sum + array.length, 0);
  },
});

function spin(seconds: number): number {
  const end = performance.now() + seconds * 1000;
  let rounds = 0;
  while (performance.now() < end) rounds = burn(rounds);
  return rounds;
}

function burn(rounds: number): number {
  let sum = 0;
  for (let step = 0; step < 20_000; step++) sum += Math.sqrt(step);
  return sum > 0 ? rounds + 1 : rounds;
}
