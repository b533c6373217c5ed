// The prefix of a key, as Dask computes it. It is computed once per task, so its common case uses only character codes.
import { attempt } from './errors.js';

/**
 * Returns the prefix of a key, which is the same for all tasks of one kind.
 *
 * - `"inc-2f6c…"` has the prefix `"inc"`, and `"('x-123…', 0)"` has the prefix `"x"`.
 * - A key that is only a token of 32 hexadecimal digits has the prefix `"data"`.
 * - The bytes of a key (UTF-8) have the prefix of its text. An array has the prefix of its first element.
 * - Any other value has the prefix `"Other"`.
 *
 * @source Dask, `key_split`
 */
export function keySplit(key: unknown): string {
  if (typeof key === 'string') return intern(splitString(key));
  if (Array.isArray(key)) return keySplit(key[0]);
  if (key instanceof Uint8Array) return keySplit(decodeUtf8(key));
  return OTHER;
}

const OTHER = 'Other';

const DASH = 0x2d;

const isAsciiLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;

/**
 * Keeps each distinct prefix once. A slice keeps the whole key alive, and a million equal prefixes would be a million
 * strings. A full table is cleared, so that keys without structure do not fill the memory.
 */
const prefixes = new Map<string, string>();
const MAX_PREFIXES = 10_000;

function intern(prefix: string): string {
  const known = prefixes.get(prefix);
  if (known !== undefined) return known;
  if (prefixes.size >= MAX_PREFIXES) prefixes.clear();
  prefixes.set(prefix, prefix);
  return prefix;
}

/** Returns the prefix: the first word between dashes, and following ones as long as they look like words. */
function splitString(key: string): string {
  let end = key.indexOf('-');
  if (end < 0) end = key.length;
  if (end === 0) return OTHER;
  const clean = isAsciiLetter(key.charCodeAt(0));
  const first = clean ? '' : firstWord(key.slice(0, end));
  const start = clean ? 0 : end;
  while (end < key.length) {
    const stop = wordEnd(key, end + 1);
    if (stop < 0) break;
    end = stop;
  }
  const result = first + key.slice(start, end);
  if (result === '') return OTHER;
  if (result.length === 32 && HEX_TOKEN.test(result)) return 'data';
  return result.charCodeAt(0) === ANGLE ? lastOfPath(result) : result;
}

const HEX_TOKEN = /^[a-f0-9]{32}$/;
const ANGLE = 0x3c;

/** Returns the first word of a key that does not begin with an ASCII letter, without the spelling of a tuple. */
function firstWord(word: string): string {
  if (/^\p{L}/u.test(word)) return word;
  const comma = word.indexOf(',');
  return (comma < 0 ? word : word.slice(0, comma)).replace(/^[_'()"]+|[_'()"]+$/g, '');
}

/**
 * Returns the end of the word at `start`, or -1 for a token. A token has characters other than letters, or has eight
 * letters that begin like a hexadecimal number.
 */
function wordEnd(key: string, start: number): number {
  let index = start;
  for (; index < key.length; index++) {
    const code = key.charCodeAt(index);
    if (code === DASH) break;
    if (!isAsciiLetter(code)) return code < 0x80 ? -1 : unicodeWordEnd(key, start);
  }
  const length = index - start;
  if (length === 0 || (length === 8 && startsLikeHex(key, start))) return -1;
  return index;
}

function unicodeWordEnd(key: string, start: number): number {
  const dash = key.indexOf('-', start);
  const end = dash < 0 ? key.length : dash;
  const word = key.slice(start, end);
  if (!/^\p{L}+$/u.test(word)) return -1;
  return Array.from(word).length === 8 && startsLikeHex(key, start) ? -1 : end;
}

function startsLikeHex(key: string, start: number): boolean {
  const code = key.charCodeAt(start);
  return code >= 0x61 && code <= 0x66;
}

/** Returns the class name: `<module.submodule.myclass object at 0x…` → `myclass`. */
function lastOfPath(text: string): string {
  const inner = text.replace(/^[<>]+|[<>]+$/g, '');
  const path = inner.match(/[^\p{Z}\t-\r]+/u)?.[0];
  return path === undefined ? OTHER : path.slice(path.lastIndexOf('.') + 1);
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return attempt(() => decoder.decode(bytes), undefined);
}
