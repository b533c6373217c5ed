// Decodes an Arrow IPC stream to columns. Opening reads the metadata of all messages. A column is read, unpacked and
// checked on use, so memory holds only the columns that are used.

import { getOrMake } from '../../../base/lookUps.js';
import { filledWith } from '../../../base/resized.js';
import type { StringTable } from '../../stringTable.js';
import { DamagedBytes, damaged, readUndamaged, unusableTrace } from '../damage.js';
import type { TextBatch, TextColumn, TextLists } from '../textColumns.js';
import {
  type ArrowCodec,
  type ArrowType,
  type BatchMessage,
  type ByteSource,
  bufferPlace,
  nullsOf,
} from './arrowMessages.js';
import {
  checkLengths,
  type Field,
  readBuffer,
  type Scan,
  type StreamDamage,
  scanStream,
  WIDTH,
} from './arrowScan.js';

interface Batch {
  readonly message: BatchMessage;
  /** Number of its first row in the stream. */
  readonly firstRow: number;
  /** Dictionaries that apply to this batch, by id. */
  readonly dictionaries: ReadonlyMap<number, BatchMessage>;
}

export class ArrowStream {
  readonly name: string;
  readonly length: number;
  readonly damage: readonly StreamDamage[];
  readonly #source: ByteSource;
  readonly #codec: ArrowCodec;
  readonly #fields: ReadonlyMap<string, Field>;
  readonly #batches: readonly Batch[];

  /**
   * `checked` unpacks all bytes once and skips damaged batches. Otherwise only the last two batches are checked, which
   * a crash of the system may have truncated, and reading a damaged column throws ERR_LONGPOLE_TRACE_FORMAT. `name`
   * names the source in errors. `scan` is the scan of the source, whose damage this completes. Default: it is scanned.
   */
  constructor(
    name: string,
    source: ByteSource,
    codec: ArrowCodec,
    checked: boolean,
    scan: Scan = scanStream(source),
  ) {
    this.name = name;
    this.#source = source;
    this.#codec = codec;
    this.#fields = scan.fields;
    const batches = scan.batches.filter((batch, i) => {
      const whole = checked || i >= scan.batches.length - 2;
      const reason = this.#faultOf(batch, scan.dictionaries.get(batch), whole);
      const { from, to } = batch;
      if (reason !== undefined) scan.damage.push({ offset: from, bytes: to - from, reason });
      return reason === undefined;
    });
    let firstRow = 0;
    this.#batches = batches.map((message) => {
      const batch = { message, firstRow, dictionaries: scan.dictionaries.get(message) ?? new Map() };
      firstRow += message.rows;
      return batch;
    });
    this.length = firstRow;
    this.damage = scan.damage;
    if (firstRow >= 2 ** 31)
      unusableTrace(name, 'it has more rows than Longpole can open', 'Record a part of the run.');
  }

  /** Returns a column of doubles, or undefined if the stream lacks it. */
  float64(name: string): Float64Array | undefined {
    return this.#column(name, ['float64'], (field) => this.#filled(field, new Float64Array(this.length)));
  }

  /** Returns a column of integers; null is -1. */
  int32(name: string): Int32Array | undefined {
    return this.#column(name, ['int32'], (field) => this.#codes(field));
  }

  /** Returns a column of 64-bit integers as doubles; null is -1. */
  int64(name: string): Float64Array | undefined {
    return this.#column(name, ['int64'], (field) => {
      const column = this.#filled(field, new Float64Array(this.length));
      // In place: the two words of a row become a double.
      const words = new Uint32Array(column.buffer);
      for (let row = 0; row < column.length; row++)
        column[row] = words[row * 2 + 1]! * 2 ** 32 + words[row * 2]!;
      return this.#withNulls(field, column, -1);
    });
  }

  /** Returns the results of `map` for each value; null is mapped as -1. Uses half the memory of `int64`. */
  mappedInt64(name: string, map: (value: number) => number): Int32Array | undefined {
    return this.#column(name, ['int64'], (field) => {
      const column = new Int32Array(this.length);
      let words = new Uint32Array(0);
      for (const { message, firstRow } of this.#batches) {
        const { rows } = message;
        if (words.length < rows * 2) words = new Uint32Array(rows * 2);
        const target = new Uint8Array(words.buffer, 0, rows * 8);
        const bytes = this.#read(message, field.buffer + 1, target.length, target);
        if (bytes.buffer !== target.buffer) target.set(bytes);
        for (let i = 0; i < rows; i++)
          column[firstRow + i] = map(words[i * 2 + 1]! * 2 ** 32 + words[i * 2]!);
      }
      return this.#withNulls(field, column, map(-1));
    });
  }

  uint8(name: string): Uint8Array | undefined {
    return this.#column(name, ['uint8'], (field) => this.#filled(field, new Uint8Array(this.length)));
  }

  /** Interns the texts of a column in `into` and returns ids by row; null is -1. */
  texts(name: string, into: StringTable): Int32Array | undefined {
    return this.#column(name, ['utf8', 'dictionary'], (field) => {
      if (field.type === 'dictionary') return this.#dictionaryTexts(field, into);
      const column = new Int32Array(this.length);
      for (const { message, firstRow } of this.#batches)
        column.set(this.#interned(message, field.buffer + 1, message.rows, into), firstRow);
      return this.#withNulls(field, column, -1);
    });
  }

  /**
   * Returns a column of texts that is read later; undefined if the stream lacks it. The column must not contain null.
   */
  textColumn(name: string): TextColumn | undefined {
    const batches = this.#batches;
    return this.#column(name, ['utf8'], ({ buffer }) => ({
      firstRows: Int32Array.from([...batches.map(({ firstRow }) => firstRow), this.length]),
      read: (batch: number, target?: Uint8Array) => {
        const { message } = batches[batch]!;
        return readUndamaged(this.name, () => this.#readTexts(message, buffer + 1, message.rows, target));
      },
    }));
  }

  /** Interns all texts of the column's dictionaries, including unused ones. */
  dictionary(name: string, into: StringTable): void {
    this.#column(name, ['dictionary'], (field) => {
      const seen = new Set<BatchMessage | undefined>();
      for (const { dictionaries } of this.#batches) {
        const message = dictionaries.get(field.dictionary);
        if (message === undefined || seen.has(message)) continue;
        seen.add(message);
        this.#interned(message, 1, message.rows, into);
      }
    });
  }

  textLists(name: string, into: StringTable): TextLists | undefined {
    return this.#column(name, ['utf8-list'], (field) => {
      const offsets = new Int32Array(this.length + 1);
      const ids: Int32Array[] = [];
      let count = 0;
      for (const { message, firstRow } of this.#batches) {
        const own = this.#offsets(message, field.buffer + 1, message.rows);
        const items = own[message.rows]!;
        ids.push(this.#interned(message, field.buffer + 3, items, into));
        for (let i = 0; i < message.rows; i++) offsets[firstRow + i + 1] = count + own[i + 1]!;
        count += items;
      }
      return { offsets, ids: filledWith(new Int32Array(count), ids) };
    });
  }

  /** Returns what `read` makes of a column, or undefined if the stream lacks it. */
  #column<T>(name: string, types: readonly ArrowType[], read: (field: Field) => T): T | undefined {
    return readUndamaged(this.name, () => {
      const field = this.#fields.get(name);
      if (field === undefined) return undefined;
      if (!types.includes(field.type)) damaged(`its column '${name}' has an unexpected type`);
      return read(field);
    });
  }

  #codes(field: Field): Int32Array {
    return this.#withNulls(field, this.#filled(field, new Int32Array(this.length)), -1);
  }

  #dictionaryTexts(field: Field, into: StringTable): Int32Array {
    const column = this.#codes(field);
    const known = new Map<BatchMessage, Int32Array>();
    for (const { message, firstRow, dictionaries } of this.#batches) {
      const dictionary = dictionaries.get(field.dictionary);
      if (dictionary === undefined) {
        column.fill(-1, firstRow, firstRow + message.rows);
        continue;
      }
      const ids = getOrMake(known, dictionary, () => this.#interned(dictionary, 1, dictionary.rows, into));
      for (let row = firstRow; row < firstRow + message.rows; row++) {
        const code = column[row]!;
        if (code >= ids.length) damaged(`a code in its column '${field.name}' has no text`);
        if (code >= 0) column[row] = ids[code]!;
      }
    }
    return column;
  }

  /** Interns texts in `into` and returns their ids. */
  #interned(message: BatchMessage, buffer: number, count: number, into: StringTable): Int32Array {
    const { offsets, bytes, view } = this.#readTexts(message, buffer, count);
    const ids = new Int32Array(count);
    for (let i = 0; i < count; i++) ids[i] = into.intern(bytes, view, offsets[i]!, offsets[i + 1]!);
    return ids;
  }

  /** Unpacks the values of a column of fixed width into `column`. Returns it. */
  #filled<C extends Float64Array | Int32Array | Uint8Array>(field: Field, column: C): C {
    const width = column.BYTES_PER_ELEMENT;
    for (const { message, firstRow } of this.#batches) {
      const target = asBytes(column, firstRow, message.rows * width);
      const bytes = this.#read(message, field.buffer + 1, target.length, target);
      if (bytes.buffer !== target.buffer) target.set(bytes);
    }
    return column;
  }

  /** Sets the rows without a value to `absent`. Returns the column. */
  #withNulls<C extends Float64Array | Int32Array>(field: Field, column: C, absent: number): C {
    for (const { message, firstRow } of this.#batches) {
      if (nullsOf(message, field.node) === 0) continue;
      const bits = this.#read(message, field.buffer, (message.rows + 7) >> 3);
      for (let i = 0; i < message.rows; i++)
        if (((bits[i >> 3]! >> (i & 7)) & 1) === 0) column[firstRow + i] = absent;
    }
    return column;
  }

  #readTexts(message: BatchMessage, buffer: number, count: number, target?: Uint8Array): TextBatch {
    const offsets = this.#offsets(message, buffer, count);
    const bytes = this.#read(message, buffer + 1, offsets[count]!, target);
    return { offsets, bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
  }

  /** Returns the offsets of texts. Checks that they start at 0 and ascend. */
  #offsets(message: BatchMessage, buffer: number, count: number): Int32Array {
    // A column without rows may lack offsets.
    if (count === 0) return new Int32Array(1);
    // Allocated after the bytes were read, because a damaged count could be huge.
    const bytes = this.#read(message, buffer, (count + 1) * 4);
    const offsets = new Int32Array(count + 1);
    asBytes(offsets, 0, bytes.length).set(bytes);
    if (offsets[0] !== 0) damaged('the first offset of its texts is not 0');
    for (let i = 0; i < count; i++) if (offsets[i + 1]! < offsets[i]!) damaged('its texts overlap');
    return offsets;
  }

  /** Returns the first `size` unpacked bytes of a buffer. */
  #read(message: BatchMessage, buffer: number, size: number, target?: Uint8Array): Uint8Array {
    const place = bufferPlace(message, buffer) ?? damaged('a batch has too few buffers');
    if (size === 0) return new Uint8Array(0);
    return readBuffer(this.#source, place, message.compressed ? this.#codec : undefined, size, target);
  }

  /** Returns the damage of a batch, or undefined. */
  #faultOf(
    message: BatchMessage,
    dictionaries: ReadonlyMap<number, BatchMessage> | undefined,
    whole: boolean,
  ): string | undefined {
    try {
      for (const field of this.#fields.values()) {
        checkLengths(message, field);
        if (whole) this.#checkColumn(message, field);
        if (whole && field.type === 'dictionary') this.#checkCodes(message, field, dictionaries);
      }
      return undefined;
    } catch (error) {
      if (error instanceof DamagedBytes) return error.message;
      throw error;
    }
  }

  #checkCodes(
    message: BatchMessage,
    field: Field,
    dictionaries: ReadonlyMap<number, BatchMessage> | undefined,
  ): void {
    const { rows } = message;
    if (rows === 0) return;
    const dictionary = dictionaries?.get(field.dictionary) ?? damaged('a batch has no dictionary');
    this.#readTexts(dictionary, 1, dictionary.rows);
    const bytes = this.#read(message, field.buffer + 1, rows * 4);
    const codes = new Int32Array(rows);
    asBytes(codes, 0, bytes.length).set(bytes);
    const nulls = nullsOf(message, field.node) > 0;
    for (const code of codes) {
      // The code of a null may be any number.
      if ((code < 0 && !nulls) || code >= Math.max(1, dictionary.rows)) damaged('a code has no text');
    }
  }

  #checkColumn(message: BatchMessage, { type, node, buffer }: Field): void {
    const { rows } = message;
    if (nullsOf(message, node) > 0) this.#read(message, buffer, (rows + 7) >> 3);
    switch (type) {
      case 'utf8':
        this.#readTexts(message, buffer + 1, rows);
        break;
      case 'utf8-list': {
        const items = this.#offsets(message, buffer + 1, rows)[rows]!;
        this.#readTexts(message, buffer + 3, items);
        break;
      }
      default:
        this.#read(message, buffer + 1, rows * WIDTH[type]);
    }
  }
}

function asBytes(array: Float64Array | Int32Array | Uint8Array, row: number, size: number): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset + row * array.BYTES_PER_ELEMENT, size);
}
