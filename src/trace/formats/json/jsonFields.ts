// Locates the values of known fields in a JSON object by the bytes of their names. A value is created on use.
import { parsedJson } from '../../../base/json.js';
import type { StringTable } from '../../stringTable.js';
import {
  CLOSE_BRACE,
  COLON,
  COMMA,
  INCOMPLETE,
  INVALID,
  type JsonCursor,
  numberAt,
  OPEN_BRACE,
  QUOTE,
} from './jsonCursor.js';

const ABSENT = -1;

const decoder = new TextDecoder();

const SLOTS = 1024;
const NO_BYTES = new Uint8Array();

/** Maps names of fields to their indices in a list. */
export class FieldNames {
  readonly names: readonly string[];
  readonly #encoded: readonly Uint8Array[];
  /** First field of a slot and next field in the same slot, or -1. */
  readonly #firsts = new Int16Array(SLOTS).fill(ABSENT);
  readonly #nexts: Int16Array;

  /** `names` are ASCII and not empty. */
  constructor(names: readonly string[]) {
    this.names = names;
    this.#encoded = names.map((name) => Uint8Array.from(name, (letter) => letter.charCodeAt(0)));
    this.#nexts = new Int16Array(names.length);
    for (const [field, name] of this.#encoded.entries()) {
      const slot = slotOf(name, 0, name.length);
      this.#nexts[field] = this.#firsts[slot]!;
      this.#firsts[slot] = field;
    }
  }

  /** Returns the field with the name `bytes[start .. end)`, or -1. */
  at(bytes: Uint8Array, start: number, end: number): number {
    if (start === end) return ABSENT;
    let field = this.#firsts[slotOf(bytes, start, end)]!;
    while (field >= 0) {
      const name = this.#encoded[field] ?? NO_BYTES;
      if (name.length === end - start) {
        let i = 0;
        while (i < name.length && bytes[start + i] === name[i]) i++;
        if (i === name.length) return field;
      }
      field = this.#nexts[field]!;
    }
    return ABSENT;
  }
}

function slotOf(bytes: Uint8Array, start: number, end: number): number {
  return ((end - start) * 67 + bytes[start]! * 31 + bytes[end - 1]!) & (SLOTS - 1);
}

/** A field that holds an object whose fields are read together with the outer ones. */
export interface InnerFields {
  readonly field: number;
  readonly fields: JsonFields;
}

/**
 * Fields of the latest object. If a field occurs twice, the last value counts. Positions are valid as long as the bytes
 * are.
 */
export class JsonFields {
  readonly #fields: FieldNames;
  readonly #cursor: JsonCursor;
  readonly #starts: Int32Array;
  readonly #stops: Int32Array;
  /** 1 if the value is a string with backslashes. */
  readonly #escaped: Uint8Array;
  readonly #inner: InnerFields | undefined;

  constructor(cursor: JsonCursor, fields: FieldNames, inner?: InnerFields) {
    this.#cursor = cursor;
    this.#inner = inner;
    this.#fields = fields;
    this.#starts = new Int32Array(fields.names.length).fill(ABSENT);
    this.#stops = new Int32Array(fields.names.length);
    this.#escaped = new Uint8Array(fields.names.length);
  }

  /** Reads the object at the cursor and moves the cursor after it. Returns false like the cursor's methods. */
  read(): boolean {
    const cursor = this.#cursor;
    const starts = this.#starts.fill(ABSENT);
    this.#inner?.fields.clear();
    if (!cursor.expect(OPEN_BRACE)) return false;
    if (cursor.peek() === CLOSE_BRACE) {
      cursor.at++;
      return true;
    }
    for (;;) {
      if (cursor.peek() < 0) return cursor.fail(INCOMPLETE);
      if (!cursor.readString()) return false;
      const field = this.#fields.at(cursor.bytes, cursor.start, cursor.stop);
      if (!cursor.expect(COLON) || cursor.peek() < 0)
        return cursor.fail(cursor.at >= cursor.end ? INCOMPLETE : INVALID);
      const start = cursor.at;
      if (!this.#step(field)) return false;
      if (field >= 0) {
        starts[field] = start;
        this.#stops[field] = cursor.at;
        this.#escaped[field] = cursor.bytes[start] === QUOTE && cursor.escaped ? 1 : 0;
      }
      const next = cursor.peek();
      if (next < 0) return cursor.fail(INCOMPLETE);
      cursor.at++;
      if (next === CLOSE_BRACE) return true;
      if (next !== COMMA) return cursor.fail(INVALID);
    }
  }

  /** Skips a value, and reads it if it is the inner object. */
  #step(field: number): boolean {
    const inner = this.#inner;
    const cursor = this.#cursor;
    const isInner = field === inner?.field && cursor.bytes[cursor.at] === OPEN_BRACE;
    return isInner ? inner.fields.read() : cursor.skipValue();
  }

  clear(): void {
    this.#starts.fill(ABSENT);
  }

  has(field: number): boolean {
    return this.#starts[field]! >= 0;
  }

  /** Returns the first byte of a value, which determines its type, or -1. */
  type(field: number): number {
    const start = this.#starts[field]!;
    return start < 0 ? -1 : this.#cursor.bytes[start]!;
  }

  /** Moves the cursor to a value. Returns false if the field is absent. */
  enter(field: number): boolean {
    const start = this.#starts[field]!;
    if (start < 0) return false;
    this.#cursor.at = start;
    return true;
  }

  size(field: number): number {
    return this.has(field) ? this.#stops[field]! - this.#starts[field]! : 0;
  }

  /** Returns the id of a value's JSON text; -1 if the field is absent. */
  raw(field: number, strings: StringTable): number {
    if (!this.has(field)) return ABSENT;
    const { bytes, view } = this.#cursor;
    return strings.intern(bytes, view, this.#starts[field]!, this.#stops[field]!);
  }

  /** Returns a number, which may be quoted; NaN if there is none. */
  number(field: number): number {
    const start = this.#starts[field]!;
    if (start < 0) return Number.NaN;
    const quotes = this.type(field) === QUOTE ? 1 : 0;
    return numberAt(this.#cursor.bytes, start + quotes, this.#stops[field]! - quotes);
  }

  /** Returns the byte of a string with one letter; -1 if the value is not such a string. */
  letter(field: number): number {
    const start = this.#starts[field]!;
    if (start < 0 || this.type(field) !== QUOTE || this.#stops[field]! - start !== 3) return -1;
    return this.#cursor.bytes[start + 1]!;
  }

  /** Returns the id of a string, or of the text of a number; -1 if the value is neither. */
  text(field: number, strings: StringTable): number {
    const start = this.#starts[field]!;
    if (start < 0) return ABSENT;
    const { bytes, view } = this.#cursor;
    const stop = this.#stops[field]!;
    const first = bytes[start]!;
    if (first !== QUOTE) return isNumberStart(first) ? strings.intern(bytes, view, start, stop) : ABSENT;
    if (this.#escaped[field] === 0) return strings.intern(bytes, view, start + 1, stop - 1);
    return strings.internString(unescaped(bytes, start, stop));
  }
}

function isNumberStart(byte: number): boolean {
  return byte === 0x2d || (byte >= 0x30 && byte <= 0x39);
}

/**
 * Returns the text of the quoted string at `bytes[start .. stop)`. A string with an invalid escape is returned as it
 * is.
 */
export function unescaped(bytes: Uint8Array, start: number, stop: number): string {
  const text = decoder.decode(bytes.subarray(start, stop));
  return String(parsedJson(text) ?? text.slice(1, -1));
}
