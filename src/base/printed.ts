// How objects print: `console.log` of Node asks them through a symbol, also in folders that know no Node.

/** What `util.inspect` calls. */
export const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom');

/** The part of the options of `util.inspect` that is used. */
export interface InspectOptions {
  /** Entries of a collection that are printed; null: all. */
  readonly maxArrayLength?: number | null | undefined;
}

/** `util.inspect`, as it hands itself over. */
export type Inspect = (value: unknown, options: InspectOptions) => string;

/** Prints a collection that only looks like a Map or a Set as one, with no more entries read than are printed. */
export function printedCollection(
  made: (entries: number) => ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>,
  size: number,
  options: InspectOptions,
  inspect: Inspect,
): string {
  const shown = Math.min(size, options.maxArrayLength ?? Number.POSITIVE_INFINITY);
  const text = inspect(made(shown), options);
  if (shown === size) return text;
  const rest = `, … ${(size - shown).toLocaleString('en')} more }`;
  return text.replace(/\(\d+\)/, `(${size})`).replace(/\s*\}$/, rest);
}

/** The first entries of an iterable. */
export function* firstOf<T>(values: Iterable<T>, count: number): Generator<T> {
  let left = count;
  if (left <= 0) return;
  for (const value of values) {
    yield value;
    if (--left <= 0) return;
  }
}
