// Tuple keys. They are spelled like Python's repr(), so that a key made here equals Dask's key for the same tuple.
import { invalidArgument } from '../base/errors.js';

/** Parts of a tuple key. Arrays are nested tuples, `null` is None. */
export type KeyPart = string | number | bigint | boolean | null | readonly KeyPart[];

/**
 * Returns a tuple key, spelled exactly as in Python: `key('x', 0, 1)` is `"('x', 0, 1)"`. Integral numbers are Python
 * ints, other numbers floats, arrays nested tuples, and `null` is None.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for a part that a key cannot contain
 * @source Dask's keys of collections
 */
export function key(...parts: readonly KeyPart[]): string {
  return reprTuple(parts);
}

/** Returns a tuple in Python's spelling: `('x', 0)`, `('x',)`, `()`. Integral numbers are ints, other numbers floats. */
function reprTuple(parts: readonly KeyPart[]): string {
  if (parts.length === 1) return `(${reprPart(parts[0])},)`;
  let text = '(';
  for (let index = 0; index < parts.length; index++) {
    if (index > 0) text += ', ';
    text += reprPart(parts[index]);
  }
  return `${text})`;
}

function reprPart(part: KeyPart | undefined): string {
  switch (typeof part) {
    case 'string':
      return reprString(part);
    case 'number':
      return Number.isSafeInteger(part) ? String(part) : reprFloat(part);
    case 'bigint':
      return String(part);
    case 'boolean':
      return part ? 'True' : 'False';
    default:
      if (part === null) return 'None';
      if (Array.isArray(part)) return reprTuple(part);
      throw invalidArgument(
        `A tuple key consists of strings, numbers, booleans, null and arrays of them, not ${typeof part}. ` +
          'Pass a number or a string that distinguishes the task from its siblings.',
      );
  }
}

/** Both languages print the shortest digits that read back as the same number. They differ in when to use an exponent. */
function reprFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const [digits = '', exponentText = '0'] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 16) return positional(value, exponent);
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${digits}e${exponent < 0 ? '-' : '+'}${size}`;
}

function positional(value: number, exponent: number): string {
  const text = String(value);
  return exponent < 0 || text.includes('.') ? text : `${text}.0`;
}

/** Python repr escapes what it cannot print: control, format, private, unassigned, lone surrogates, odd spaces. */
const UNPRINTABLE = /[\p{C}\p{Z}]/u;

function reprString(text: string): string {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code > 0x7e || code === 0x27 || code === 0x5c) return reprUnusualString(text);
  }
  return `'${text}'`;
}

function reprUnusualString(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let out = quote;
  for (const character of text) out += escapeCharacter(character, quote);
  return out + quote;
}

function escapeCharacter(character: string, quote: string): string {
  switch (character) {
    case quote:
    case '\\':
      return `\\${character}`;
    case '\n':
      return '\\n';
    case '\r':
      return '\\r';
    case '\t':
      return '\\t';
    case ' ':
      return ' ';
  }
  if (!UNPRINTABLE.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
