// Keys of tasks, concatenated as bytes. As strings, the keys of a window would be most of the garbage collector's work,
// and most keys are never read.

import { Int32Column } from '../../base/columns.js';
import { resizedUint8 } from '../../base/resized.js';
import { decodeText } from '../stringTable.js';

const encoder = new TextEncoder();

const FIRST_BYTES = 1 << 12;
/** Maximal size of a UTF-16 code unit in UTF-8. */
const MAX_BYTES_PER_LETTER = 3;

/** Cache of the column that was read last; the next key is mostly of the same column. */
let recent: { readonly column: KeyColumn; readonly keys: readonly string[] } | undefined;

export class KeyColumn {
  #bytes = new Uint8Array(FIRST_BYTES);
  #used = 0;
  /** Offset of the end of each key. */
  readonly #ends = new Int32Column();

  get length(): number {
    return this.#ends.length;
  }

  /** Appends keys, some 20 ns each if all are ASCII. A lone surrogate becomes U+FFFD. */
  add(keys: readonly string[]): void {
    const all = keys.length === 1 ? keys[0]! : keys.join('');
    this.#reserve(all.length);
    // Text that is not ASCII does not fit, because it has more bytes than code units.
    const room = this.#bytes.subarray(this.#used, this.#used + all.length);
    if (encoder.encodeInto(all, room).read === all.length) {
      for (const key of keys) this.#end(key.length);
      return;
    }
    for (const key of keys) {
      this.#reserve(key.length * MAX_BYTES_PER_LETTER);
      this.#end(encoder.encodeInto(key, this.#bytes.subarray(this.#used)).written);
    }
  }

  /** Returns the keys `[from .. to)`, some 20 ns each if all are ASCII. */
  slice(from: number, to: number): string[] {
    const begin = this.#startOf(from);
    const size = this.#startOf(to) - begin;
    const text = decodeText(this.#bytes.subarray(begin, begin + size));
    const isAscii = text.length === size;
    return Array.from({ length: to - from }, (_, index) => {
      const [start, end] = [this.#startOf(from + index), this.#startOf(from + index + 1)];
      return isAscii ? text.slice(start - begin, end - begin) : decodeText(this.#bytes.subarray(start, end));
    });
  }

  /** Returns one key, or '' if it does not exist. Fast if the next call is mostly for the same column. */
  at(index: number): string {
    if (recent?.column !== this || recent.keys.length <= index)
      recent = { column: this, keys: this.slice(0, this.length) };
    return recent.keys[index] ?? '';
  }

  #startOf(index: number): number {
    return index === 0 ? 0 : this.#ends.values[index - 1]!;
  }

  #end(bytes: number): void {
    this.#used += bytes;
    this.#ends.push(this.#used);
  }

  #reserve(bytes: number): void {
    if (this.#used + bytes <= this.#bytes.length) return;
    this.#bytes = resizedUint8(this.#bytes, Math.max(this.#bytes.length * 2, this.#used + bytes));
  }
}
