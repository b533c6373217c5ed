// Printing of objects with `console.log`, without imports of Node.
import { integerText } from './words.js';

/** Symbol of the method that Node's `util.inspect` calls. */
export const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom');

/** Base of objects that `console.log` prints as their `toString`. */
export abstract class Printed {
  [INSPECT](): string {
    return this.toString();
  }
}

/** The options of `util.inspect` that this file uses. */
export interface InspectOptions {
  /** Largest number of printed entries of a collection; null for no limit. */
  readonly maxArrayLength?: number | null | undefined;
}

/** The function `util.inspect`, which Node passes to the method. */
export type Inspect = (value: unknown, options: InspectOptions) => string;

/**
 * Prints a collection that implements the interface of Map or Set like a real one. `made` returns a real Map or Set with
 * the first entries, so that only printed entries are read.
 */
export function printedCollection(
  made: (entries: number) => ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>,
  size: number,
  options: InspectOptions,
  inspect: Inspect,
): string {
  const shown = Math.min(size, options.maxArrayLength ?? Number.POSITIVE_INFINITY);
  const text = inspect(made(shown), options);
  if (shown === size) return text;
  const rest = `, … ${integerText(size - shown)} more }`;
  return text.replace(/\(\d+\)/, `(${size})`).replace(/\s*\}$/, rest);
}

export function* firstOf<T>(values: Iterable<T>, count: number): Generator<T> {
  let left = count;
  if (left <= 0) return;
  for (const value of values) {
    yield value;
    if (--left <= 0) return;
  }
}
