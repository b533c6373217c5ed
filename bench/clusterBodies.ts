// Task bodies of the bench for clusters.
import { tasks } from 'longpole';

export const { inc, sum, spin, make, use, nap, lengthOf } = tasks(import.meta.url, {
  inc(value: number): number {
    return value + 1;
  },
  sum(values: readonly number[]): number {
    let total = 0;
    for (const value of values) total += value;
    return total;
  },
  /** Keeps the thread busy for a time. */
  spin(milliseconds: number): number {
    const end = performance.now() + milliseconds;
    while (performance.now() < end);
    return milliseconds;
  },
  make(length: number): Float64Array {
    return new Float64Array(length).fill(1);
  },
  /** Returns its start time, in milliseconds since the epoch. */
  use(array: Float64Array): number {
    const began = performance.timeOrigin + performance.now();
    return array.length > 0 ? began : Number.NaN;
  },
  /** Sleeps for 100 ms. */
  nap(index: number): number {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    return index;
  },
  lengthOf(array: Float64Array): number {
    return array.length;
  },
});
