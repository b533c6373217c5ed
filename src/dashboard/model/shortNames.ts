// Names of workers where there is little room: addresses of a cluster begin alike, and what is cut off at their end is what
// tells them apart.

/** Shorter names than this stand whole. */
const SHORT = 14;
/** Letters that have to go, or the dots that stand for them are no gain. */
const LEAST = 4;
const SEPARATOR = /[^\p{L}\p{N}]/u;

/**
 * Each name without what all of them begin and end with, up to a separator; `…` stands for that. Names that are short, or
 * have nothing in common, stay as they are.
 */
export function shortNames(names: readonly string[]): readonly string[] {
  const different = [...new Set(names)];
  if (different.length < 2 || different.every(({ length }) => length <= SHORT)) return names;
  const prefix = wholeParts(different.reduce(commonStart));
  const reversed = different.map((name) => backwards(name.slice(prefix.length)));
  const suffix = wholeParts(reversed.reduce(commonStart));
  const from = prefix.length >= LEAST ? prefix.length : 0;
  const cut = suffix.length >= LEAST ? suffix.length : 0;
  return names.map((name) => {
    const rest = name.slice(from, name.length - cut);
    return `${from > 0 ? '…' : ''}${rest}${cut > 0 ? '…' : ''}`;
  });
}

function commonStart(a: string, b: string): string {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return a.slice(0, at);
}

/** Up to the last separator: `worker-1` and `worker-12` have `worker-` in common, not `worker-1`. */
function wholeParts(text: string): string {
  let at = text.length;
  while (at > 0 && !SEPARATOR.test(text[at - 1]!)) at--;
  return text.slice(0, at);
}

function backwards(text: string): string {
  return text.split('').reverse().join('');
}
