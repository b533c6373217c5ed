// The type of what `compute` gives.
import type { Delayed } from '../graph/delayed.js';

/** The results of some Delayed, in the same order. */
export type Computed<D extends readonly Delayed<unknown>[]> = {
  -readonly [I in keyof D]: D[I] extends Delayed<infer T> ? T : never;
};
