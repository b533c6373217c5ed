// Growing columns. `values` is longer than `length`; growing replaces the array. V8 starts a garbage collection after every
// 64 MB of typed arrays, even if they are unused. So a column that has become large grows to its expected length at once.
import { resizedFloat64, resizedInt32, resizedUint8 } from './resized.js';

/** Small, because most columns hold few rows. V8 allocates arrays of up to 64 bytes cheaply, in its own heap. */
export const MIN_ROWS = 8;
/** Rows from which a column grows to its expected length at once. */
const LARGE = 1 << 15;

/** Returns the next length of a column. `expected` is 0 if unknown; a column can grow beyond it. */
export function grownLength(length: number, expected: number): number {
  return length >= LARGE && expected > length ? expected : 2 * length;
}

export class Int32Column {
  /** See `grownLength`. */
  expected = 0;
  values = new Int32Array(MIN_ROWS);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length)
      this.values = resizedInt32(this.values, grownLength(this.length, this.expected));
    this.values[this.length++] = value;
  }

  /** Returns a view of the values. Later pushes do not change it. */
  take(): Int32Array {
    return this.values.subarray(0, this.length);
  }
}

export class Float64Column {
  values = new Float64Array(MIN_ROWS);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) this.values = resizedFloat64(this.values, this.length * 2);
    this.values[this.length++] = value;
  }

  /** Returns a view of the values. Later pushes do not change it. */
  take(): Float64Array {
    return this.values.subarray(0, this.length);
  }
}

export class Uint8Column {
  values = new Uint8Array(MIN_ROWS);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) this.values = resizedUint8(this.values, this.length * 2);
    this.values[this.length++] = value;
  }

  /** Returns a view of the values. Later pushes do not change it. */
  take(): Uint8Array {
    return this.values.subarray(0, this.length);
  }
}
