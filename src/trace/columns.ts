// Columns that grow while a trace is read or recorded. `values` is longer than `length`, and replaced when it grows.
import { resizedFloat64, resizedInt32, resizedUint8 } from '../base/resized.js';

/** Most columns of most traces hold few rows. V8 keeps arrays of up to 64 bytes in its heap, which are cheap to make. */
const MIN_ROWS = 8;

export class Int32Column {
  values = new Int32Array(MIN_ROWS);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) this.values = resizedInt32(this.values, this.length * 2);
    this.values[this.length++] = value;
  }

  /** A view of what was written; a later push does not change it. */
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

  /** A view of what was written; a later push does not change it. */
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

  /** A view of what was written; a later push does not change it. */
  take(): Uint8Array {
    return this.values.subarray(0, this.length);
  }
}

/** The columns of an absent figure, one array for all of a table: 10,000,000 rows of nothing cost 40 MB once. */
export class AbsentColumns {
  readonly #length: number;
  #ids: Int32Array | undefined;
  #numbers: Float64Array | undefined;

  constructor(length: number) {
    this.#length = length;
  }

  /** -1 in every row. */
  get ids(): Int32Array {
    this.#ids ??= new Int32Array(this.#length).fill(-1);
    return this.#ids;
  }

  /** NaN in every row. */
  get numbers(): Float64Array {
    this.#numbers ??= new Float64Array(this.#length).fill(Number.NaN);
    return this.#numbers;
  }
}
