// Tokenises JSON as UTF-8 bytes without creating values. A reader of large files reads the few fields that it needs and
// skips the rest.

/** The text ends before the value; pass more text. */
export const INCOMPLETE = 1;
/** The text is not valid JSON. */
export const INVALID = 2;
export type JsonFailure = typeof INCOMPLETE | typeof INVALID;

/** Limit for nesting. The cursor does not recurse; the limit protects code that creates values. */
const MAX_DEPTH = 256;

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** Powers of ten that are exact in float64. */
const TENS = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/**
 * A position in `bytes`. Reading methods return false on failure; then `failure` has the reason and `at` is unspecified.
 * A number at the end of the bytes is incomplete, because more digits may follow.
 */
export class JsonCursor {
  bytes: Uint8Array = new Uint8Array();
  view = new DataView<ArrayBufferLike>(this.bytes.buffer);
  at = 0;
  end = 0;
  failure: JsonFailure = INVALID;
  /** Content of the latest string without its quotes: `bytes[start .. stop)`. */
  start = 0;
  stop = 0;
  /** Whether that string has a backslash and needs unescaping. */
  escaped = false;

  /** Moves to the beginning of `bytes[0 .. end)`. */
  use(bytes: Uint8Array, end: number): void {
    if (bytes !== this.bytes) this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.bytes = bytes;
    this.end = end;
    this.at = 0;
  }

  /** Skips white space. Returns the next byte, or -1 at the end. */
  peek(): number {
    const { bytes, end } = this;
    let at = this.at;
    while (at < end) {
      const byte = bytes[at]!;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) {
        this.at = at;
        return byte;
      }
      at++;
    }
    this.at = at;
    return -1;
  }

  /** Skips white space and `byte`. */
  expect(byte: number): boolean {
    const found = this.peek();
    if (found !== byte) return this.fail(found < 0 ? INCOMPLETE : INVALID);
    this.at++;
    return true;
  }

  readString(): boolean {
    const { bytes, end } = this;
    let at = this.at;
    if (at >= end) return this.fail(INCOMPLETE);
    if (bytes[at++] !== QUOTE) return this.fail(INVALID);
    this.start = at;
    this.escaped = false;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        this.stop = at;
        this.at = at + 1;
        return true;
      }
      if (byte === BACKSLASH) {
        this.escaped = true;
        at++;
      } else if (byte < 0x20 && byte !== 0x09) {
        // A line break in a string shows that the file is damaged. A bare tab is invalid, too, but recorders write it.
        return this.fail(INVALID);
      }
    }
    return this.fail(INCOMPLETE);
  }

  /** Skips the value at the cursor. Checks brackets and strings; other bytes must merely be allowed in JSON. */
  skipValue(): boolean {
    const first = this.peek();
    if (first < 0) return this.fail(INCOMPLETE);
    if (first === QUOTE) return this.readString();
    if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return this.#skipScalar();
    return this.#skipContainer();
  }

  #skipContainer(): boolean {
    const { bytes, end } = this;
    const closing: number[] = [];
    do {
      if (this.at >= end) return this.fail(INCOMPLETE);
      const byte = bytes[this.at]!;
      if (byte === QUOTE) {
        if (!this.readString()) return false;
        continue;
      }
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (closing.length >= MAX_DEPTH) return this.fail(INVALID);
        // The code of a closing bracket is 2 more than that of its opening one.
        closing.push(byte + 2);
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (closing.pop() !== byte) return this.fail(INVALID);
      } else if (!isScalarByte(byte) && byte !== COMMA && byte !== COLON && byte > 0x20) {
        return this.fail(INVALID);
      }
      this.at++;
    } while (closing.length > 0);
    return true;
  }

  /** Skips a number, true, false or null. */
  #skipScalar(): boolean {
    const { bytes, end } = this;
    const start = this.at;
    let at = start;
    while (at < end && isScalarByte(bytes[at]!)) at++;
    this.at = at;
    if (at === end) return this.fail(INCOMPLETE);
    return at > start || this.fail(INVALID);
  }

  fail(failure: JsonFailure): false {
    this.failure = failure;
    return false;
  }
}

/** Returns whether a byte may occur in numbers (including NaN and Infinity), true, false or null. */
function isScalarByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    byte === 0x2e ||
    byte === 0x2d ||
    byte === 0x2b ||
    (byte >= 0x41 && byte <= 0x5a)
  );
}

/**
 * Returns the number in `bytes[start .. end)`, exactly as `Number` reads it, or NaN. Numbers of at most 15 digits take
 * some nanoseconds; others are converted through a string.
 */
export function numberAt(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  const negative = bytes[at] === 0x2d;
  if (negative) at++;
  let mantissa = 0;
  let digits = 0;
  let point = -1;
  for (; at < end; at++) {
    const byte = bytes[at]!;
    if (byte >= 0x30 && byte <= 0x39) {
      mantissa = mantissa * 10 + byte - 0x30;
      digits++;
    } else if (byte === 0x2e && point < 0) {
      point = at;
    } else {
      break;
    }
  }
  const decimals = point < 0 ? 0 : at - point - 1;
  if (at < end || digits === 0 || digits > 15) return slowNumberAt(bytes, start, end);
  // Both operands are exact, so the quotient is rounded once, as required.
  const value = decimals === 0 ? mantissa : mantissa / TENS[decimals]!;
  return negative ? -value : value;
}

function slowNumberAt(bytes: Uint8Array, start: number, end: number): number {
  // No recorder writes longer numbers, so the file is damaged.
  if (end === start || end - start > 64) return Number.NaN;
  let text = '';
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (!isScalarByte(byte)) return Number.NaN;
    text += String.fromCharCode(byte);
  }
  return /^-?[0-9]/.test(text) && !/x|o|b/i.test(text) ? Number(text) : Number.NaN;
}
