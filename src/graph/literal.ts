// A wrapper that keeps Dask's graph form from reading meaning into a value.

/** A value that is data whatever it looks like: never a key, never a task, nothing inside it is looked up. */
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
