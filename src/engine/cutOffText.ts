// The texts of events about tasks that had not ended.

/** Prefixes and tasks that an event names. */
const MAX_NAMES = 5;

/** Returns how many tasks of each prefix. */
export function countsText(all: readonly { readonly prefix: string; readonly count: number }[]): string {
  return listText(all.map(({ prefix, count }) => `${count} ${prefix}`));
}

/** Returns at most five names. */
export function listText(names: readonly string[]): string {
  return [...names.slice(0, MAX_NAMES), ...(names.length > MAX_NAMES ? ['…'] : [])].join(', ');
}
