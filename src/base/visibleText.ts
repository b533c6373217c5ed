// Makes text of a trace safe to show. Keys, names, messages and log lines come from other programs. Printed
// unchanged, they could set a terminal's title, clear the screen, or hide the text that follows. Data (JSON, CSV,
// files) keeps the original text.
import { integerText } from './words.js';

/** Matches most texts and is faster than the test for unsafe characters. */
const PLAIN = /^[\x20-\x7e]*$/;

/** Offset of Unicode's pictures of control characters, e.g. ␛ for ESC. */
const PICTURES = 0x2400;
const PICTURE_OF_DELETE = '␡';
const REPLACEMENT = '\ufffd';

/**
 * Returns the text with a visible symbol for every character that a terminal would execute or hide: `␛` for ESC, `␡`
 * for DEL, `<U+202E>` for other controls, `\ufffd` for lone surrogates. Line feeds and tabs are kept.
 */
export function visibleText(text: string): string {
  if (PLAIN.test(text)) return text;
  // Control characters, format characters (direction of text, no width) and lone surrogates. Line feed, tab and the joiners
  // of letters are kept. V8 takes 0.2 ms for the expression, so it is made here and not at each start of an isolate.
  return text.replace(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (unsafe) => {
    const code = unsafe.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCharCode(PICTURES + code);
    if (code === 0x7f) return PICTURE_OF_DELETE;
    if (code >= 0xd800 && code <= 0xdfff) return REPLACEMENT;
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** Longest name in a table, a label or a message, in characters. A longer name is shortened in the middle. */
export const LONGEST_NAME = 300;

/**
 * Returns the text with at most about `longest` characters. A longer text becomes its beginning, `…`, its end and its
 * length, because keys of one group differ at their ends.
 */
export function shortened(text: string, longest = LONGEST_NAME): string {
  if (text.length <= longest) return text;
  const length = ` (${integerText(text.length)} characters)`;
  const kept = Math.max(2, longest - length.length - 1);
  const tail = Math.floor(kept / 2);
  return `${text.slice(0, kept - tail)}…${text.slice(text.length - tail)}${length}`;
}

/** Returns a name on one line, visible and shortened, as tables and labels show it. */
export function visibleName(name: string, longest = LONGEST_NAME): string {
  return visibleText(shortened(name, longest).replaceAll(/[\r\n\t]+/g, ' '));
}

/** Returns the text of a cell of a table; empty for null. Numbers have six digits. */
export function cellText(cell: string | number | null): string {
  if (cell === null) return '';
  if (typeof cell === 'string') return visibleName(cell);
  return Number.isInteger(cell) ? String(cell) : String(Number(cell.toPrecision(6)));
}

/** Escapes a text for HTML and SVG, also for attributes. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
