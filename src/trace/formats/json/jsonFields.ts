// One JSON object at a time: where the values of the fields that a reader knows stand, by the bytes of their names. No
// value is made before it is asked for.
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

// What Node, workers and browsers have and the language's own library does not.
declare const TextDecoder: new () => { decode(bytes: Uint8Array): string };
const decoder = new TextDecoder();

const SLOTS = 1024;
const NO_BYTES = new Uint8Array();

/** Names of fields as numbers: their place in the list that they were made from. */
export class FieldNames {
  readonly names: readonly string[];
  readonly #encoded: readonly Uint8Array[];
  /** Slot → the first field in it, field → the next one in its slot; -1: none. */
  readonly #firsts = new Int16Array(SLOTS).fill(ABSENT);
  readonly #nexts: Int16Array;

  /** ASCII names of at least one letter. */
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

  /** The field whose name `bytes[start .. end)` is, or -1. */
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

/** A field that is an object whose own fields are read together with those around it. */
export interface InnerFields {
  readonly field: number;
  readonly fields: JsonFields | undefined;
}

/**
 * The fields of the object that was read last; of a field that stands twice the last counts. Spans are good as long as
 * the bytes are.
 */
export class JsonFields {
  readonly #fields: FieldNames;
  readonly #cursor: JsonCursor;
  readonly #starts: Int32Array;
  readonly #stops: Int32Array;
  /** 1 where the value is a string with backslashes. */
  readonly #escaped: Uint8Array;

  readonly #inner: InnerFields;

  constructor(
    cursor: JsonCursor,
    fields: FieldNames,
    inner: InnerFields = { field: ABSENT, fields: undefined },
  ) {
    this.#cursor = cursor;
    this.#inner = inner;
    this.#fields = fields;
    this.#starts = new Int32Array(fields.names.length).fill(ABSENT);
    this.#stops = new Int32Array(fields.names.length);
    this.#escaped = new Uint8Array(fields.names.length);
  }

  /** Reads the object at the cursor, and leaves the cursor behind it; false as the cursor's own methods. */
  read(): boolean {
    const cursor = this.#cursor;
    const starts = this.#starts.fill(ABSENT);
    this.#inner.fields?.clear();
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

  /** Over a value, which is read on the way if it is the inner object. */
  #step(field: number): boolean {
    const { field: inner, fields } = this.#inner;
    const cursor = this.#cursor;
    if (field < 0 || field !== inner || fields === undefined || cursor.bytes[cursor.at] !== OPEN_BRACE) {
      return cursor.skipValue();
    }
    return fields.read();
  }

  /** Forgets what was read. */
  clear(): void {
    this.#starts.fill(ABSENT);
  }

  has(field: number): boolean {
    return this.#starts[field]! >= 0;
  }

  /** The first byte of a value, which tells its type; -1 where there is none. */
  type(field: number): number {
    const start = this.#starts[field]!;
    return start < 0 ? -1 : this.#cursor.bytes[start]!;
  }

  /** Puts the cursor where the value stands; false where there is none. */
  enter(field: number): boolean {
    const start = this.#starts[field]!;
    if (start < 0) return false;
    this.#cursor.at = start;
    return true;
  }

  /** Bytes of a value. */
  size(field: number): number {
    return this.has(field) ? this.#stops[field]! - this.#starts[field]! : 0;
  }

  /** The id of a value's text as it stands, whatever it is; -1 where there is none. */
  raw(field: number, strings: StringTable): number {
    if (!this.has(field)) return ABSENT;
    const { bytes, view } = this.#cursor;
    return strings.intern(bytes, view, this.#starts[field]!, this.#stops[field]!);
  }

  /** A number, also one in quotes; NaN where there is none. */
  number(field: number): number {
    const start = this.#starts[field]!;
    if (start < 0) return Number.NaN;
    const quotes = this.type(field) === QUOTE ? 1 : 0;
    return numberAt(this.#cursor.bytes, start + quotes, this.#stops[field]! - quotes);
  }

  /** The first byte of a string of one letter, or -1. */
  letter(field: number): number {
    const start = this.#starts[field]!;
    if (start < 0 || this.type(field) !== QUOTE || this.#stops[field]! - start !== 3) return -1;
    return this.#cursor.bytes[start + 1]!;
  }

  /** The id of a string, or of the text of a number; -1 where there is neither. */
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

/** The text of a string with its quotes at `bytes[start .. stop)`; with an escape that JSON does not have, as it stands. */
export function unescaped(bytes: Uint8Array, start: number, stop: number): string {
  const text = decoder.decode(bytes.subarray(start, stop));
  try {
    return String(JSON.parse(text));
  } catch {
    return text.slice(1, -1);
  }
}
