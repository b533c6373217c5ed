// Text of a trace as a person may read it. Keys, names, messages and log lines come from other programs: printed as they
// are, they could set a terminal's title, clear the screen, hide what follows, or fill it. Data (JSON, CSV, files) keeps the
// true text.

/** Controls and format characters (direction of text, no width) and lone surrogates. Line feed, tab and joiners of letters stay. */
const UNSAFE = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Most texts: they need no look at the properties of each character. */
const PLAIN = /^[\x20-\x7e]*$/;

/** Offset of the pictures of control characters in Unicode: ␛ for ESC. */
const PICTURES = 0x2400;
const PICTURE_OF_DELETE = '␡';
const REPLACEMENT = '\ufffd';

/**
 * Returns the text with a visible sign for every character that a terminal would execute or hide: `␛` for ESC, `␡` for
 * DEL, `<U+202E>` for other controls, `\ufffd` for lone surrogates. Line feeds and tabs stay.
 */
export function visibleText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(UNSAFE, (unsafe) => {
    const code = unsafe.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCharCode(PICTURES + code);
    if (code === 0x7f) return PICTURE_OF_DELETE;
    if (code >= 0xd800 && code <= 0xdfff) return REPLACEMENT;
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** Characters of a name in a table, a label or a message. Longer ones lose their middle. */
export const LONGEST_NAME = 300;

/**
 * Returns the text in at most about `longest` characters: of a longer one its beginning, `…`, its end and its length,
 * because keys of one group differ at their ends.
 */
export function shortened(text: string, longest = LONGEST_NAME): string {
  if (text.length <= longest) return text;
  const length = ` (${text.length.toLocaleString('en')} characters)`;
  const kept = Math.max(2, longest - length.length - 1);
  const tail = Math.floor(kept / 2);
  return `${text.slice(0, kept - tail)}…${text.slice(text.length - tail)}${length}`;
}

/** Returns a name on one line, visible and shortened, as tables and labels show it. */
export function visibleName(name: string, longest = LONGEST_NAME): string {
  return visibleText(shortened(name, longest).replaceAll(/[\r\n\t]+/g, ' '));
}
