// Look-ups in maps, records and sorted ranges, and values that are computed on first use.

/** Returns the value of a key. Creates and stores the value if the map lacks the key. */
export function getOrMake<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Returns a memoized `make`, which is called once per key. The results are held weakly by their keys. */
export function oncePer<K extends WeakKey, V>(make: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => getOrMake(known, key, () => make(key));
}

/** Adds a number to the sum of a key. */
export function addTo<K>(sums: Map<K, number>, key: K, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
}

export function countsOf<T>(values: Iterable<T>): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) addTo(counts, value, 1);
  return counts;
}

/** Returns the entry with the largest sum, the first of several; undefined if there is none. */
export function largestOf<K>(sums: Iterable<readonly [K, number]>): readonly [K, number] | undefined {
  let largest: readonly [K, number] | undefined;
  for (const entry of sums) if (largest === undefined || entry[1] > largest[1]) largest = entry;
  return largest;
}

/** Returns the sum of one number of each value. */
export function sumOf<T>(values: Iterable<T>, numberOf: (value: T) => number): number {
  let sum = 0;
  for (const value of values) sum += numberOf(value);
  return sum;
}

export function pushTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/**
 * Returns the smallest number in `[from, to)` for which `holds` is true, or `to`. If `holds` is true for a number, it must
 * be true for all larger numbers.
 */
export function firstWhere(from: number, to: number, holds: (at: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function recordOf<K extends string, V>(names: readonly K[], value: (name: K) => V): Record<K, V>;
export function recordOf<V>(names: readonly string[], value: (name: string) => V): Record<string, V> {
  return Object.fromEntries(names.map((name) => [name, value(name)]));
}

/** Returns the least and the greatest number of lists, without NaN; Infinity and -Infinity if there is none. */
export function rangeOf(...lists: readonly Float64Array[]): { start: number; stop: number } {
  let [start, stop] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const list of lists) {
    for (const value of list) {
      if (value < start) start = value;
      if (value > stop) stop = value;
    }
  }
  return { start, stop };
}

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
