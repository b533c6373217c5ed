/**
 * Dask's graph form. A value that is an array whose first element is a function is a task, `[fn, ...args]`; a string
 * argument equal to a key of the graph stands for that key's value; arrays nest, and may hold further tasks; a value
 * that is a key is an alias; anything else is data.
 *
 * @source seeds 002 and 003; Dask's graph specification
 */
export type Graph = Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown>;

/** One key, or arrays of keys nested to any depth. Results have the same shape. */
export type Keys = string | readonly Keys[];
