// Values that are computed on first use.

/**
 * Returns a function that calls `make` once and then returns the same value. If `make` throws, the next call tries
 * again.
 */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Gives an object further properties. Each is computed on first use. */
export function addLazy<O extends object, M extends Readonly<Record<string, () => unknown>>>(
  object: O,
  makers: M,
): asserts object is O & { readonly [K in keyof M]: ReturnType<M[K]> } {
  for (const [name, make] of Object.entries(makers))
    Object.defineProperty(object, name, { get: once(make), enumerable: true });
}
