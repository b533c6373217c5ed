// Finds the name of a function in a task's key. Works on UTF-8 bytes because it runs for every key of a trace.

const DASH = 0x2d;
const QUOTE = 0x27;
const DOUBLE_QUOTE = 0x22;
const PARENTHESIS = 0x28;
const UNDERSCORE = 0x5f;

/**
 * Narrows `span` from a key in `bytes` to the function's name.
 *
 * A key is a name and further words, joined by dashes. The further words identify the task: hexadecimal tokens, the
 * five words of a uuid, numbers. The name ends before the first word that is no identifier or that is a token of 8 or
 * more hexadecimal digits. A key without such a word is the name. The first element decides for a tuple key such as
 * `('name-token', 0, 1)`. Leading underscores stay, unlike in Dask's `key_split`: `_func_fit-62a7…` is a task of
 * `_func_fit`.
 */
export function functionNameSpan(bytes: Uint8Array, span: { start: number; end: number }): void {
  let { start, end } = span;
  if (bytes[start] === PARENTHESIS) {
    const quote = bytes[start + 1];
    if (quote === QUOTE || quote === DOUBLE_QUOTE) {
      let close = start + 2;
      while (close < end && bytes[close] !== quote) close++;
      start += 2;
      end = close;
    }
  }
  let nameEnd = wordEnd(bytes, start, end);
  while (nameEnd < end) {
    const next = wordEnd(bytes, nameEnd + 1, end);
    if (!isNamePart(bytes, nameEnd + 1, next)) break;
    nameEnd = next;
  }
  if (nameEnd === start) nameEnd = end;
  span.start = start;
  span.end = nameEnd;
}

function wordEnd(bytes: Uint8Array, start: number, end: number): number {
  let i = start;
  while (i < end && bytes[i] !== DASH) i++;
  return i;
}

/** Returns whether the bytes are an identifier and no hexadecimal token. */
function isNamePart(bytes: Uint8Array, start: number, end: number): boolean {
  if (start === end || isDigit(bytes[start]!)) return false;
  let hexadecimal = true;
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if (isDigit(byte) || (byte >= 0x61 && byte <= 0x66)) continue;
    hexadecimal = false;
    if (byte !== UNDERSCORE && !isLetter(byte)) return false;
  }
  return !(hexadecimal && end - start >= 8);
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Returns whether a byte belongs to a letter. All bytes outside ASCII count as letters. */
function isLetter(byte: number): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a) || byte >= 0x80;
}
