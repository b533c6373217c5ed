// Keys of tasks as bytes, one behind the other. As strings the keys of a window would be most of what the garbage
// collector moves and looks at, and most of them are never read.
import { resizedUint8 } from '../../base/resized.js';
import { Int32Column } from '../columns.js';
import { decodeText } from '../stringTable.js';

declare const TextEncoder: new () => {
  encodeInto(text: string, target: Uint8Array): { readonly read: number; readonly written: number };
};
const encoder = new TextEncoder();

const FIRST_BYTES = 1 << 12;
/** What UTF-8 makes of one letter of a JavaScript string at most. */
const MAX_BYTES_PER_LETTER = 3;

/** The column that was read last and its keys: who reads one key reads its neighbours. */
let recent: { readonly column: KeyColumn; readonly keys: readonly string[] } | undefined;

export class KeyColumn {
  #bytes = new Uint8Array(FIRST_BYTES);
  #used = 0;
  /** Where each key ends. */
  readonly #ends = new Int32Column();

  get length(): number {
    return this.#ends.length;
  }

  /** Some 20 ns a key where all are ASCII. Half a surrogate pair becomes U+FFFD. */
  add(keys: readonly string[]): void {
    const all = keys.join('');
    this.#reserve(all.length);
    // Anything but ASCII takes more bytes than it has letters, and does not fit.
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

  /** The keys `from … to - 1`; some 20 ns each where all are ASCII. */
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

  /** One key, '' if there is none. Asked for in any order, as long as the next is mostly of the same column. */
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
