// Finds the ends of JSON values in UTF-8 bytes without creating them, for readers of large and of damaged files.

import { decodeText } from '../../stringTable.js';

/** The text ends before the value; pass more text. */
export const INCOMPLETE = 1;
/** The text is not valid JSON. */
export const INVALID = 2;
export type JsonFailure = typeof INCOMPLETE | typeof INVALID;

/** Limit for nesting, for damaged files. */
const MAX_DEPTH = 256;

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** Whole numbers that float64 may round. */
const LONG_NUMBER = /(?<=[:,[]\s*)\d{16,}(?=\s*[,}\]])/g;
/** Values that JSON lacks, but that recorders write. */
const NO_NUMBER = /(?<=[:,[]\s*)(?:NaN|-?Infinity)(?=\s*[,}\]])/g;

/**
 * A position in `bytes`. Reading methods return false on failure; then `failure` has the reason and `at` is unspecified.
 */
export class JsonCursor {
  bytes: Uint8Array = new Uint8Array();
  at = 0;
  end = 0;
  failure: JsonFailure = INVALID;
  /** Content of the latest string without its quotes: `bytes[start .. stop)`. */
  start = 0;
  stop = 0;

  /** Moves to the beginning of `bytes[0 .. end)`. */
  use(bytes: Uint8Array, end: number): void {
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

  /** Reads the string at the cursor. */
  readString(): boolean {
    const { bytes, end } = this;
    let at = this.at;
    if (at >= end) return this.fail(INCOMPLETE);
    if (bytes[at++] !== QUOTE) return this.fail(INVALID);
    this.start = at;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        this.stop = at;
        this.at = at + 1;
        return true;
      }
      if (byte === BACKSLASH) at++;
      else if (byte < 0x20 && byte !== 0x09) {
        // A line break in a string shows that the file is damaged. A bare tab is invalid, too, but recorders write it.
        return this.fail(INVALID);
      }
    }
    return this.fail(INCOMPLETE);
  }

  /** Skips the object at the cursor up to its last brace. Checks strings; other parts are checked when they are parsed. */
  skipObject(): boolean {
    const { bytes, end } = this;
    let depth = 0;
    while (this.at < end) {
      const byte = bytes[this.at]!;
      if (byte === QUOTE) {
        if (!this.readString()) return false;
        continue;
      }
      this.at++;
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (++depth > MAX_DEPTH) return this.fail(INVALID);
      } else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return true;
    }
    return this.fail(INCOMPLETE);
  }

  /** Returns the content of the latest string without decoding escapes. */
  text(): string {
    return decodeText(this.bytes.subarray(this.start, this.stop));
  }

  /**
   * Returns the values in `bytes[start .. end)`, separated by commas; undefined if they are not valid JSON.
   *
   * @param exact whether long whole numbers become texts, which keep all digits
   */
  parsed(start: number, end: number, exact = false): readonly unknown[] | undefined {
    const text = `[${decodeText(this.bytes.subarray(start, end))}]`;
    return (
      parsedList(exact ? text.replace(LONG_NUMBER, '"$&"') : text) ??
      parsedList(text.replace(/\t/g, ' ').replace(NO_NUMBER, 'null'))
    );
  }

  fail(failure: JsonFailure): false {
    this.failure = failure;
    return false;
  }
}

function parsedList(text: string): readonly unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}
