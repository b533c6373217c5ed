// Values that are made when they are first asked for.

/** Returns what the first call of `make` returned; if it throws, so does every call until one succeeds. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
