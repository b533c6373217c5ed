// Writes flatbuffers, the format of Arrow's metadata. Works from front to back: a table precedes everything that it
// refers to, so all offsets are positive.

/** Value of a field. `pairs` are FieldNodes or Buffers: two sizes each, in turn. */
export type FlatField =
  | { readonly type: 'uint8' | 'int16' | 'int32' | 'size'; readonly value: number }
  | { readonly type: 'table'; readonly value: FlatFields }
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'tables'; readonly value: readonly FlatFields[] }
  | { readonly type: 'pairs'; readonly value: readonly number[] };

/** Fields of a table by number. An undefined field has its default. */
export type FlatFields = readonly (FlatField | undefined)[];

/** Size of a field in its table. A field that is no number is an offset. */
const SIZES = { uint8: 1, int16: 2, int32: 4, size: 8, table: 4, text: 4, tables: 4, pairs: 4 } as const;

/** Returns a flatbuffer whose root is a table with these fields. */
export function flatBuffer(root: FlatFields): Uint8Array {
  const writer = new FlatWriter();
  const at = writer.reserve(4, 4);
  writer.refer(at, writer.table(root));
  return writer.bytes();
}

class FlatWriter {
  #view = new DataView(new ArrayBuffer(1024));
  #size = 0;

  bytes(): Uint8Array {
    return new Uint8Array(this.#view.buffer, 0, this.#size);
  }

  /** Reserves `size` zero bytes and returns their position. The position plus `ahead` is a multiple of `alignment`. */
  reserve(size: number, alignment: number, ahead = 0): number {
    const at = Math.ceil((this.#size + ahead) / alignment) * alignment - ahead;
    this.#size = at + size;
    if (this.#size > this.#view.byteLength) {
      const larger = new Uint8Array(Math.max(this.#size, this.#view.byteLength * 2));
      larger.set(new Uint8Array(this.#view.buffer));
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }

  refer(at: number, to: number): void {
    this.#view.setUint32(at, to - at, true);
  }

  /** Writes a table, then the values that its fields refer to. Returns the position of the table. */
  table(fields: FlatFields): number {
    const entries = this.reserve(4 + fields.length * 2, 2);
    const table = this.reserve(4, 4);
    this.#view.setInt32(table, table - entries, true);
    const places = fields.map((field) => {
      if (field === undefined) return 0;
      const size = SIZES[field.type];
      return this.reserve(size, size);
    });
    this.#view.setUint16(entries, 4 + fields.length * 2, true);
    this.#view.setUint16(entries + 2, this.#size - table, true);
    for (const [number, field] of fields.entries()) {
      if (field === undefined) continue;
      const at = places[number]!;
      this.#view.setUint16(entries + 4 + number * 2, at - table, true);
      this.#fill(at, field);
    }
    return table;
  }

  #fill(at: number, field: FlatField): void {
    switch (field.type) {
      case 'uint8':
        this.#view.setUint8(at, field.value);
        break;
      case 'int16':
        this.#view.setInt16(at, field.value, true);
        break;
      case 'int32':
        this.#view.setInt32(at, field.value, true);
        break;
      case 'size':
        this.#setSize(at, field.value);
        break;
      case 'table':
        this.refer(at, this.table(field.value));
        break;
      case 'text':
        this.refer(at, this.#text(field.value));
        break;
      case 'tables':
        this.refer(at, this.#tables(field.value));
        break;
      case 'pairs':
        this.refer(at, this.#pairs(field.value));
        break;
    }
  }

  /** Writes a number from 0 to 2^53. */
  #setSize(at: number, value: number): void {
    this.#view.setUint32(at, value % 2 ** 32, true);
    this.#view.setUint32(at + 4, value / 2 ** 32, true);
  }

  /** Writes a text. The terminating zero is not part of its length. */
  #text(text: string): number {
    const bytes = new TextEncoder().encode(text);
    const at = this.reserve(4 + bytes.length + 1, 4);
    this.#view.setUint32(at, bytes.length, true);
    new Uint8Array(this.#view.buffer).set(bytes, at + 4);
    return at;
  }

  #tables(tables: readonly FlatFields[]): number {
    const at = this.reserve(4 + tables.length * 4, 4);
    this.#view.setUint32(at, tables.length, true);
    for (const [index, fields] of tables.entries()) this.refer(at + 4 + index * 4, this.table(fields));
    return at;
  }

  #pairs(values: readonly number[]): number {
    const at = this.reserve(4 + values.length * 8, 8, 4);
    this.#view.setUint32(at, values.length / 2, true);
    for (const [index, value] of values.entries()) this.#setSize(at + 4 + index * 8, value);
    return at;
  }
}
