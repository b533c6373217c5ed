// Type of the results of `compute`.
import type { Delayed } from '../graph/delayed.js';

/** Results of a tuple or array of Delayed, in the same order. */
export type Computed<D extends readonly Delayed<unknown>[]> = {
  -readonly [I in keyof D]: D[I] extends Delayed<infer T> ? T : never;
};
