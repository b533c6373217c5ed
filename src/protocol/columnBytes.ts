// Columns as bytes: the pieces that the codecs of pages are made of. Integers are zigzag deltas in base-128 varints,
// times are exact multiples of 2^-22 s wherever they can be, strings are front coded. All of it is planar and meant to
// be deflated afterwards. Everything round-trips bit for bit, also -0, NaN and unpaired surrogates.
import { LongpoleError } from '../base/errors.js';
import type { StringList } from './profilePage.js';

/** Beyond this many UTF-16 units a string table is taken for damaged data rather than allocated. */
const MAX_STRING_UNITS = 2 ** 29;
/** Deltas beyond this are not exact once zigzagged into a double. */
const MAX_DELTA = 2 ** 51;
/** Epoch seconds between 2^30 and 2^31 (2004 to 2038) are multiples of this in a double. */
const TICKS_PER_SECOND = 2 ** 22;

const RAW = 0;
const INTEGERS = 1;
const TICKS = 2;

/** Grows as it is written. Multi-byte values are little endian. */
export class ByteWriter {
  #bytes = new Uint8Array(1024);
  #length = 0;

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + count));
    grown.set(this.#bytes);
    this.#bytes = grown;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  bytes(values: Uint8Array): void {
    this.#reserve(values.length);
    this.#bytes.set(values, this.#length);
    this.#length += values.length;
  }

  float64(value: number): void {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value, true);
    this.bytes(new Uint8Array(view.buffer));
  }

  /** A safe integer, not negative. */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** An integer of magnitude up to 2^51; small magnitudes are short. */
  zigzag(value: number): void {
    this.varint(value >= 0 ? value * 2 : value * -2 - 1);
  }

  /** A copy of what has been written. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }
}

/** Reads what ByteWriter wrote; every read past the end is an ERR_LONGPOLE_PAGE_DATA. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length - this.#offset;
  }

  byte(): number {
    if (this.remaining < 1) damaged('it ends too early');
    return this.#bytes[this.#offset++]!;
  }

  bytes(count: number): Uint8Array {
    if (count > this.remaining) damaged('it ends too early');
    this.#offset += count;
    return this.#bytes.subarray(this.#offset - count, this.#offset);
  }

  float64(): number {
    const bytes = this.bytes(8);
    return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true);
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
      scale *= 0x80;
      if (scale > Number.MAX_SAFE_INTEGER) damaged('a number is too long');
    }
    if (!Number.isSafeInteger(value)) damaged('a number is too large');
    return value;
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** The length of a column whose entries take at least `bytesPerEntry` each, so that damage cannot ask for gigabytes. */
  count(bytesPerEntry: number): number {
    const count = this.varint();
    if (count * bytesPerEntry > this.remaining) damaged('a column is longer than the data');
    return count;
  }
}

export function writeIndices(writer: ByteWriter, column: Uint32Array): void {
  writer.varint(column.length);
  let previous = 0;
  for (let i = 0; i < column.length; i++) {
    writer.zigzag(column[i]! - previous);
    previous = column[i]!;
  }
}

export function readIndices(reader: ByteReader): Uint32Array {
  const column = new Uint32Array(reader.count(1));
  let previous = 0;
  for (let i = 0; i < column.length; i++) {
    previous += reader.zigzag();
    if (previous < 0 || previous > 0xffffffff) damaged('an index is out of range');
    column[i] = previous;
  }
  return column;
}

/**
 * A column of doubles. `near`, if given, is a column of the same length that has been written before: entries are
 * stored as the distance to it (a stop to its start) instead of to the entry before.
 */
export function writeFloats(writer: ByteWriter, column: Float64Array, near?: Float64Array): void {
  writer.varint(column.length);
  const kind = [INTEGERS, TICKS].find((k) => isExact(column, scaleOf(k), near)) ?? RAW;
  writer.byte(kind);
  if (kind === RAW) {
    for (let i = 0; i < column.length; i++) writer.float64(column[i]!);
    return;
  }
  const scale = scaleOf(kind);
  const first = firstOf(column, near);
  writer.float64(first);
  let previous = first * scale;
  for (let i = 0; i < column.length; i++) {
    const value = column[i]! * scale;
    writer.zigzag(value - (near === undefined ? previous : near[i]! * scale));
    previous = value;
  }
}

export function readFloats(reader: ByteReader, near?: Float64Array): Float64Array {
  const length = reader.count(1);
  const kind = reader.byte();
  if (near !== undefined && near.length !== length) damaged('two columns differ in length');
  if (kind === RAW) {
    if (length * 8 > reader.remaining) damaged('it ends too early');
    return Float64Array.from({ length }, () => reader.float64());
  }
  if (kind !== INTEGERS && kind !== TICKS) damaged('a column has an unknown encoding');
  const scale = scaleOf(kind);
  const column = new Float64Array(length);
  let previous = reader.float64() * scale;
  for (let i = 0; i < length; i++) {
    previous = reader.zigzag() + (near === undefined ? previous : near[i]! * scale);
    column[i] = previous / scale;
  }
  return column;
}

function scaleOf(kind: number): number {
  return kind === TICKS ? TICKS_PER_SECOND : 1;
}

/** What the first distance of a column without `near` counts from: a whole epoch in ticks would not fit a delta. */
function firstOf(column: Float64Array, near: Float64Array | undefined): number {
  return near === undefined && column.length > 0 ? column[0]! : 0;
}

/** Whether all entries are integers at this scale, at distances that zigzag keeps exact. */
function isExact(column: Float64Array, scale: number, near: Float64Array | undefined): boolean {
  let previous = firstOf(column, near) * scale;
  for (let i = 0; i < column.length; i++) {
    const value = column[i]! * scale;
    const from = near === undefined ? previous : near[i]! * scale;
    if (!Number.isSafeInteger(value) || Object.is(value, -0) || !Number.isSafeInteger(from)) return false;
    if (Math.abs(value - from) > MAX_DELTA) return false;
    previous = value;
  }
  return true;
}

/** A table of strings that makes a string when it is asked for: a million keys cost their characters, not objects. */
export class PackedStrings implements StringList {
  readonly #units: Uint8Array | Uint16Array;
  readonly #offsets: Uint32Array;

  /** String i is the UTF-16 units from `offsets[i]` to `offsets[i + 1]`. */
  constructor(units: Uint8Array | Uint16Array, offsets: Uint32Array) {
    this.#units = units;
    this.#offsets = offsets;
  }

  get length(): number {
    return this.#offsets.length - 1;
  }

  at(index: number): string | undefined {
    if (!(index >= 0 && index < this.length)) return undefined;
    const stop = this.#offsets[index + 1]!;
    let text = '';
    for (let i = this.#offsets[index]!; i < stop; i += 4096) {
      text += String.fromCharCode(...this.#units.subarray(i, Math.min(stop, i + 4096)));
    }
    return text;
  }
}

/** Each string as the number of units it shares with the one before, and the rest; low and high bytes apart. */
export function writeStrings(writer: ByteWriter, strings: StringList): void {
  const shared: number[] = [];
  const rest: string[] = [];
  let previous = '';
  for (let i = 0; i < strings.length; i++) {
    const text = strings.at(i) ?? '';
    const limit = Math.min(text.length, previous.length);
    let same = 0;
    while (same < limit && text.charCodeAt(same) === previous.charCodeAt(same)) same++;
    shared.push(same);
    rest.push(text.slice(same));
    previous = text;
  }
  writer.varint(strings.length);
  for (const length of shared) writer.varint(length);
  for (const text of rest) writer.varint(text.length);
  const units = rest.join('');
  const low = new Uint8Array(units.length);
  const high = new Uint8Array(units.length);
  for (let i = 0; i < units.length; i++) {
    low[i] = units.charCodeAt(i) & 0xff;
    high[i] = units.charCodeAt(i) >> 8;
  }
  writer.bytes(low);
  const wide = high.some((byte) => byte !== 0);
  writer.byte(wide ? 1 : 0);
  if (wide) writer.bytes(high);
}

export function readStrings(reader: ByteReader): PackedStrings {
  const count = reader.count(2);
  const shared = readVarints(reader, count);
  const rest = readVarints(reader, count);
  const offsets = new Uint32Array(count + 1);
  let restUnits = 0;
  let units = 0;
  for (let i = 0; i < count; i++) {
    const before = i === 0 ? 0 : units - offsets[i - 1]!;
    if (shared[i]! > before) damaged('a string continues one that is shorter');
    offsets[i] = units;
    units += shared[i]! + rest[i]!;
    restUnits += rest[i]!;
    if (units > MAX_STRING_UNITS) damaged('the strings are longer than a page can hold');
  }
  offsets[count] = units;
  const low = reader.bytes(restUnits);
  const wide = reader.byte() === 1;
  const high = wide ? reader.bytes(restUnits) : undefined;
  const text = wide ? new Uint16Array(units) : new Uint8Array(units);
  let source = 0;
  for (let i = 0; i < count; i++) {
    const start = offsets[i]!;
    if (shared[i]! > 0) text.copyWithin(start, offsets[i - 1]!, offsets[i - 1]! + shared[i]!);
    const stop = offsets[i + 1]!;
    for (let at = start + shared[i]!; at < stop; at++, source++) {
      text[at] = low[source]! | (high === undefined ? 0 : high[source]! << 8);
    }
  }
  return new PackedStrings(text, offsets);
}

function readVarints(reader: ByteReader, count: number): Float64Array {
  const values = new Float64Array(count);
  for (let i = 0; i < count; i++) values[i] = reader.varint();
  return values;
}

export function damaged(what: string): never {
  throw new LongpoleError(
    'ERR_LONGPOLE_PAGE_DATA',
    `The data of the page cannot be read: ${what}. Write the page again, or copy the whole file again.`,
  );
}
