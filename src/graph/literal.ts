// A wrapper that marks a value as data in Dask's graph form.

/** A value that is always data: never a key or a task, and nothing inside it is resolved. */
export class Literal<T = unknown> {
  readonly value: T;

  constructor(value: T) {
    this.value = value;
  }
}

/**
 * Marks a value in a graph as plain data. `{ a: 1, b: [f, literal('a')] }` passes the string `'a'` to `f`; without
 * `literal` it would pass 1.
 */
export function literal<T>(value: T): Literal<T> {
  return new Literal(value);
}
