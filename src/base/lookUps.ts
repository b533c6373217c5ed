// Looking something up, and making it where it is missing.

/** What a map has for a key; it is made, and kept there, where the map has nothing. */
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

/** `make` with a memory: for each key it is called once, as long as the key lives. */
export function oncePer<K extends WeakKey, V>(make: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => getOrMake(known, key, () => make(key));
}

/** Adds a value to the list of a key. */
export function pushTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** The first number from `from` on that `isBehind` holds of, `to` if there is none; it must hold of all behind that, too. */
export function firstWhere(from: number, to: number, isBehind: (at: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBehind(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
