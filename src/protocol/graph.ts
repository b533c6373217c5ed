/**
 * Dask's graph form. An array whose first element is a function is a task, `[fn, ...args]`. A string argument that
 * equals a key of the graph stands for that key's value. Arrays nest, and may contain further tasks. A value that is
 * a key is an alias. Any other value is data.
 *
 * @source Dask's graph specification
 */
export type Graph = Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown>;

/** One key, or arrays of keys nested to any depth. Results have the same shape. */
export type Keys = string | readonly Keys[];
