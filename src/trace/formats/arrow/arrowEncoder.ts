// Writes tables as Arrow IPC streams. A dictionary that grew is written again in full, because polars rejects deltas.
import { internalError } from '../../../base/errors.js';
import { type BatchParts, describeBatch, describeDictionary, describeSchema } from './arrowDescriptions.js';
import { type ArrowCodec, type ArrowField, type ArrowValues, CONTINUATION } from './arrowMessages.js';

const encoder = new TextEncoder();

/** Size in bytes from which buffers are compressed. */
const COMPRESS_FROM = 64;
/** Number of batches for which a buffer is not compressed, after compression saved less than a tenth. */
const SKIPPED_BATCHES = 15;
const NO_BYTES = new Uint8Array(0);

export class ArrowEncoder {
  readonly #fields: readonly ArrowField[];
  readonly #codec: ArrowCodec | undefined;
  readonly #standalone: boolean;
  readonly #skips = new Int32Array(256);
  /** Written state of the dictionaries, by field. */
  readonly #written = new Map<string, { readonly generation: number; readonly length: number }>();

  /** `standalone` repeats the dictionaries in every batch, so that earlier batches may be missing. */
  constructor(fields: readonly ArrowField[], codec?: ArrowCodec, standalone = false) {
    this.#fields = fields;
    this.#codec = codec;
    this.#standalone = standalone;
  }

  start(): Uint8Array[] {
    return framed(describeSchema(this.#fields), []);
  }

  /**
   * Returns the bytes of a batch of `rows` rows, preceded by changed dictionaries. `columns` are in the order of the
   * fields. Throws ERR_LONGPOLE_INTERNAL if a column has another type than its field.
   */
  batch(rows: number, columns: readonly ArrowValues[]): Uint8Array[] {
    const parts: Uint8Array[] = [];
    const body = new Body(this.#codec, this.#skips);
    for (const [id, { name, type }] of this.#fields.entries()) {
      const column = columns[id];
      if (column?.type !== type) {
        throw internalError(`The column ${name} does not have the type ${type}.`);
      }
      if (column.type === 'dictionary') parts.push(...this.#dictionary(name, id, column));
      body.add(rows, column);
    }
    parts.push(...framed(describeBatch(body.described(rows)), body.parts));
    return parts;
  }

  #dictionary(name: string, id: number, column: ArrowValues & { readonly type: 'dictionary' }): Uint8Array[] {
    const { texts, generation } = column;
    const written = this.#written.get(name);
    if (!this.#standalone && written?.generation === generation && written.length === texts.length) return [];
    this.#written.set(name, { generation, length: texts.length });
    const body = new Body(this.#codec, new Int32Array(3));
    body.add(texts.length, { type: 'utf8', values: texts });
    return framed(describeDictionary(id, body.described(texts.length)), body.parts);
  }

  end(): Uint8Array[] {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setUint32(0, CONTINUATION, true);
    return [bytes];
  }
}

/** Returns a message: marker, length of the metadata, metadata and body, each padded to multiples of 8 bytes. */
function framed(description: Uint8Array, body: readonly Uint8Array[]): Uint8Array[] {
  const size = (description.length + 7) & ~7;
  const head = new Uint8Array(8 + size);
  const view = new DataView(head.buffer);
  view.setUint32(0, CONTINUATION, true);
  view.setInt32(4, size, true);
  head.set(description, 8);
  return [head, ...body];
}

class Body {
  readonly parts: Uint8Array[] = [];
  size = 0;
  readonly #codec: ArrowCodec | undefined;
  /** Number of further batches without compression, by buffer. */
  readonly #skips: Int32Array;
  readonly #nodes: number[] = [];
  readonly #buffers: number[] = [];

  constructor(codec: ArrowCodec | undefined, skips: Int32Array) {
    this.#codec = codec;
    this.#skips = skips;
  }

  described(rows: number): BatchParts {
    return {
      rows,
      nodes: this.#nodes,
      buffers: this.#buffers,
      compressed: this.#codec !== undefined,
      size: this.size,
    };
  }

  add(rows: number, column: ArrowValues): void {
    switch (column.type) {
      case 'float64':
      case 'uint8':
        this.#node(rows);
        this.#buffer(bytesOf(column.values, rows));
        break;
      case 'int64':
        this.#numbersNode(rows, column.values);
        this.#buffer(int64Bytes(column.values, rows));
        break;
      case 'int32':
      case 'dictionary': {
        const { values } = column;
        // The code of a null is 0, because polars looks up every code.
        const hasNulls = this.#numbersNode(rows, values) > 0;
        const codes = hasNulls ? values.slice(0, rows).map((value) => Math.max(0, value)) : values;
        this.#buffer(bytesOf(codes, rows));
        break;
      }
      case 'utf8':
        this.#textsNode(rows, column.values);
        this.#texts(column.values, rows);
        break;
      case 'utf8-list':
        this.#lists(column.values, rows);
        break;
    }
  }

  #lists(lists: readonly (readonly string[])[], rows: number): void {
    const offsets = new Int32Array(rows + 1);
    for (let row = 0; row < rows; row++) offsets[row + 1] = offsets[row]! + lists[row]!.length;
    this.#node(rows);
    this.#buffer(bytesOf(offsets, rows + 1));
    this.#node(offsets[rows]!);
    this.#texts(lists.slice(0, rows).flat(), offsets[rows]!);
  }

  /** Adds the entry of a column and its validity bits; no bits if no row is null. */
  #node(rows: number, nulls = 0, bits: Uint8Array = NO_BYTES): void {
    this.#nodes.push(rows, nulls);
    this.#buffer(bits);
  }

  /** Adds a node in which negative numbers and NaN are null. Returns the number of nulls. */
  #numbersNode(rows: number, values: Int32Array | Float64Array): number {
    let known = 0;
    for (let row = 0; row < rows; row++) if (values[row]! >= 0) known++;
    const all = known === rows;
    this.#node(rows, rows - known, all ? NO_BYTES : bitsOf(rows, (row) => values[row]! >= 0));
    return rows - known;
  }

  #textsNode(rows: number, texts: readonly (string | null)[]): void {
    let nulls = 0;
    for (let row = 0; row < rows; row++) if (texts[row] === null) nulls++;
    this.#node(rows, nulls, nulls === 0 ? NO_BYTES : bitsOf(rows, (row) => texts[row] !== null));
  }

  #texts(texts: readonly (string | null)[], rows: number): void {
    const { offsets, bytes } = encodeTexts(texts, rows);
    this.#buffer(bytesOf(offsets, rows + 1));
    this.#buffer(bytes);
  }

  #buffer(bytes: Uint8Array): void {
    const from = this.size;
    if (bytes.length > 0 && this.#codec !== undefined) {
      // A compressed buffer starts with its unpacked length, or with -1 if it is stored uncompressed.
      const packed = this.#packed(bytes, this.#codec);
      const smaller = packed.length < bytes.length;
      const prefix = new Uint8Array(8);
      new DataView(prefix.buffer).setBigInt64(0, smaller ? BigInt(bytes.length) : -1n, true);
      this.#push(prefix);
      this.#push(smaller ? packed : bytes);
    } else this.#push(bytes);
    this.#buffers.push(from, this.size - from);
    const padding = -this.size & 7;
    if (padding > 0) this.#push(new Uint8Array(padding));
  }

  #packed(bytes: Uint8Array, codec: ArrowCodec): Uint8Array {
    const buffer = this.#buffers.length / 2;
    if (bytes.length < COMPRESS_FROM) return bytes;
    if (this.#skips[buffer]! > 0) {
      this.#skips[buffer]! -= 1;
      return bytes;
    }
    const packed = codec.compress(bytes);
    if (packed.length > bytes.length * 0.9) this.#skips[buffer] = SKIPPED_BATCHES;
    return packed;
  }

  #push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.parts.push(bytes);
    this.size += bytes.length;
  }
}

function bitsOf(rows: number, valid: (row: number) => boolean): Uint8Array {
  const bits = new Uint8Array((rows + 7) >> 3);
  for (let row = 0; row < rows; row++) if (valid(row)) bits[row >> 3]! |= 1 << (row & 7);
  return bits;
}

function bytesOf(values: Float64Array | Int32Array | Uint8Array, rows: number): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, rows * values.BYTES_PER_ELEMENT);
}

/** Returns integers from 0 to 2^53 as 64 bits; other values become 0. */
function int64Bytes(values: Float64Array, rows: number): Uint8Array {
  const words = new Uint32Array(rows * 2);
  for (let row = 0; row < rows; row++) {
    const value = values[row]!;
    if (!(value > 0)) continue;
    words[row * 2] = value % 2 ** 32;
    words[row * 2 + 1] = value / 2 ** 32;
  }
  return new Uint8Array(words.buffer);
}

/** Concatenates texts. If all are ASCII, one call encodes them, some 40 ns a text instead of 150. */
function encodeTexts(
  texts: readonly (string | null)[],
  rows: number,
): { readonly offsets: Int32Array; readonly bytes: Uint8Array } {
  const all = (texts.length === rows ? texts : texts.slice(0, rows)).join('');
  const ascii = new Uint8Array(all.length);
  const offsets = new Int32Array(rows + 1);
  // Text that is not ASCII does not fit, because it has more bytes than code units.
  if (encoder.encodeInto(all, ascii).read === all.length) {
    for (let row = 0; row < rows; row++) offsets[row + 1] = offsets[row]! + (texts[row]?.length ?? 0);
    return { offsets, bytes: ascii };
  }
  const bytes = new Uint8Array(all.length * 3);
  let end = 0;
  for (let row = 0; row < rows; row++) {
    end += encoder.encodeInto(texts[row] ?? '', bytes.subarray(end)).written;
    offsets[row + 1] = end;
  }
  return { offsets, bytes: bytes.subarray(0, end) };
}
