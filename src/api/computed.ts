// Types of the results of `compute` and `persist`.
import type { Delayed } from '../graph/delayed.js';
import type { Future } from './cluster/future.js';

/** Results of a tuple or array of Delayed, in the same order. */
export type Computed<D extends readonly Delayed<unknown>[]> = {
  -readonly [I in keyof D]: D[I] extends Delayed<infer T> ? T : never;
};

/** Futures of a tuple or array of Delayed, in the same order. */
export type Persisted<D extends readonly Delayed<unknown>[]> = {
  -readonly [I in keyof D]: D[I] extends Delayed<infer T> ? Future<T> : never;
};
