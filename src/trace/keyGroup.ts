// The group of a key: the tasks that one call of a collection created.

/**
 * Returns the first element of a tuple key, `('sum-1f3a…', 0, 1)` → `sum-1f3a…`, and the prefix of any other key.
 *
 * @source Dask, `key_split_group`
 */
export function keyGroup(key: string, prefix: string): string {
  if (key.charCodeAt(0) !== PARENTHESIS) return prefix;
  const quote = key[1];
  if (quote !== "'" && quote !== '"') return prefix;
  const end = key.indexOf(quote, 2);
  return end < 0 ? prefix : key.slice(2, end);
}

const PARENTHESIS = 0x28;

/** Returns whether a tuple key belongs to `group`, without extracting its first element. */
export function inGroup(key: string, group: string): boolean {
  if (key.charCodeAt(0) !== PARENTHESIS || !key.startsWith(group, 2)) return false;
  return key.length > group.length + 2 && key[group.length + 2] === key[1];
}
