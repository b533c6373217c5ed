// The group of a key: tasks that one call of a collection made.

/**
 * Of a tuple key its first element: `('sum-1f3a…', 0, 1)` → `sum-1f3a…`; of any other key its prefix.
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

/** Whether a key that begins like the one whose group is `group` is in the same: saves cutting it out again. */
export function inGroup(key: string, group: string): boolean {
  if (key.charCodeAt(0) !== PARENTHESIS || !key.startsWith(group, 2)) return false;
  return key.length > group.length + 2 && key[group.length + 2] === key[1];
}
