// Shortens the names of workers. Addresses of a cluster have the same beginning, so cutting off their ends would make
// them equal.

/** Length up to which names are not shortened. */
const SHORT = 14;
/** Fewest characters that `…` replaces. */
const MIN_CUT = 4;
const SEPARATOR = /[^\p{L}\p{N}]/u;

/**
 * Replaces the common beginning and the common end of all names by `…`, up to a separator. Short names, and names
 * without a common part, stay unchanged.
 */
export function shortNames(names: readonly string[]): readonly string[] {
  const different = [...new Set(names)];
  if (different.length < 2 || different.every(({ length }) => length <= SHORT)) return names;
  const prefix = wholeParts(different.reduce(commonStart));
  const reversed = different.map((name) => backwards(name.slice(prefix.length)));
  const suffix = wholeParts(reversed.reduce(commonStart));
  const from = prefix.length >= MIN_CUT ? prefix.length : 0;
  const cut = suffix.length >= MIN_CUT ? suffix.length : 0;
  return names.map((name) => {
    const middle = name.slice(from, name.length - cut);
    return `${from > 0 ? '…' : ''}${middle}${cut > 0 ? '…' : ''}`;
  });
}

function commonStart(a: string, b: string): string {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return a.slice(0, at);
}

/** Cuts a text after its last separator: `worker-1` and `worker-12` share `worker-`, not `worker-1`. */
function wholeParts(text: string): string {
  let at = text.length;
  while (at > 0 && !SEPARATOR.test(text[at - 1]!)) at--;
  return text.slice(0, at);
}

function backwards(text: string): string {
  return text.split('').reverse().join('');
}
