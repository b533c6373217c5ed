// Growing columns for readers and recorders. `values` is longer than `length`; growing replaces the array.
import { resizedFloat64, resizedInt32, resizedUint8 } from '../base/resized.js';

/** Small, because most columns hold few rows. V8 allocates arrays of up to 64 bytes cheaply, in its own heap. */
const MIN_ROWS = 8;

export class Int32Column {
  values = new Int32Array(MIN_ROWS);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) this.values = resizedInt32(this.values, this.length * 2);
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

/** Columns without values. All absent columns of a table share one array of each type, which is made on first use. */
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
