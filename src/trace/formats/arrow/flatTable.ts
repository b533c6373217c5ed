// Reads flatbuffers, the format of Arrow's metadata, from untrusted bytes. Checks every offset and vector before using
// it. apache-arrow's reader trusts a damaged length and exhausts the memory.
import { damaged } from '../damage.js';

/** A table in a flatbuffer. Fields have numbers; an absent field has its default. */
export class FlatTable {
  readonly #view: DataView;
  readonly #at: number;
  readonly #vtable: number;
  readonly #vtableSize: number;

  private constructor(view: DataView, at: number) {
    this.#view = view;
    this.#at = at;
    this.#vtable = at - view.getInt32(at, true);
    this.#vtableSize = check(view, this.#vtable, 4) ? view.getUint16(this.#vtable, true) : 0;
    if (!check(view, this.#vtable, this.#vtableSize)) damaged('metadata has an invalid offset');
  }

  static root(bytes: Uint8Array): FlatTable {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return FlatTable.#follow(view, 0);
  }

  static #follow(view: DataView, at: number): FlatTable {
    if (!check(view, at, 4)) damaged('metadata is truncated');
    const to = at + view.getUint32(at, true);
    if (!check(view, to, 4)) damaged('metadata has an invalid offset');
    return new FlatTable(view, to);
  }

  /** Returns the position of a field of `size` bytes, or -1 if it is absent. */
  #field(number: number, size: number): number {
    const entry = 4 + number * 2;
    if (entry + 2 > this.#vtableSize) return -1;
    const offset = this.#view.getUint16(this.#vtable + entry, true);
    if (offset === 0) return -1;
    const at = this.#at + offset;
    if (!check(this.#view, at, size)) damaged('metadata has an invalid offset');
    return at;
  }

  uint8(number: number): number {
    const at = this.#field(number, 1);
    return at < 0 ? 0 : this.#view.getUint8(at);
  }

  int16(number: number): number {
    const at = this.#field(number, 2);
    return at < 0 ? 0 : this.#view.getInt16(at, true);
  }

  int32(number: number): number {
    const at = this.#field(number, 4);
    return at < 0 ? 0 : this.#view.getInt32(at, true);
  }

  /** Returns a length or an offset, from 0 to 2^53. */
  size(number: number): number {
    const at = this.#field(number, 8);
    return at < 0 ? 0 : sizeAt(this.#view, at);
  }

  table(number: number): FlatTable | undefined {
    const at = this.#field(number, 4);
    return at < 0 ? undefined : FlatTable.#follow(this.#view, at);
  }

  text(number: number): string {
    const { view, at, length } = this.#vector(number, 1);
    return new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset + at, length));
  }

  tables(number: number): FlatTable[] {
    const { view, at, length } = this.#vector(number, 4);
    return Array.from({ length }, (_, i) => FlatTable.#follow(view, at + i * 4));
  }

  /** Returns pairs of lengths or offsets: FieldNodes or Buffers. */
  pairs(number: number): Float64Array {
    const { view, at, length } = this.#vector(number, 16);
    const values = new Float64Array(length * 2);
    for (let i = 0; i < values.length; i++) values[i] = sizeAt(view, at + i * 8);
    return values;
  }

  #vector(number: number, size: number): { view: DataView; at: number; length: number } {
    const view = this.#view;
    const field = this.#field(number, 4);
    if (field < 0) return { view, at: 0, length: 0 };
    const at = field + view.getUint32(field, true);
    if (!check(view, at, 4)) damaged('metadata has an invalid offset');
    const length = view.getUint32(at, true);
    if (!check(view, at + 4, length * size)) damaged('metadata has an impossible length');
    return { view, at: at + 4, length };
  }
}

function check(view: DataView, at: number, size: number): boolean {
  return at >= 0 && at + size <= view.byteLength;
}

function sizeAt(view: DataView, at: number): number {
  const high = view.getInt32(at + 4, true);
  if (high < 0 || high >= 2 ** 21) damaged('a length is impossible');
  return high * 2 ** 32 + view.getUint32(at, true);
}
