// Typed arrays that grow by doubling. Push is two loads and a store; `take` returns the filled part without a copy.
// V8 starts a garbage collection after every 64 MB of typed arrays, even if they are unused. So an array that has
// become large grows to the expected size at once.
import { resizedFloat64, resizedInt32, resizedUint8 } from '../base/resized.js';

/** Arrays of up to 64 bytes are on V8's heap, so a graph of a few tasks allocates nothing outside it. */
const FIRST_INTEGERS = 16;
const FIRST_NUMBERS = 8;
/** Elements from which an array grows to its expected size at once. */
const LARGE = 1 << 15;

function grownLength(length: number, expected: number): number {
  return length >= LARGE && expected > length ? expected : 2 * length;
}

export class GrowableInt32 {
  /** Expected length, 0 if unknown. An array can grow beyond it. */
  expected = 0;
  #array: Int32Array;
  length = 0;

  constructor(capacity = FIRST_INTEGERS) {
    this.#array = new Int32Array(capacity);
  }

  push(value: number): void {
    if (this.length === this.#array.length) this.#grow();
    this.#array[this.length++] = value;
  }

  at(index: number): number {
    return this.#array[index]!;
  }

  set(index: number, value: number): void {
    this.#array[index] = value;
  }

  /** Returns the filled part: a view, valid until the next push. */
  take(): Int32Array {
    return this.#array.subarray(0, this.length);
  }

  #grow(): void {
    this.#array = resizedInt32(this.#array, grownLength(this.length, this.expected));
  }
}

/** Operations and operands of expressions, which grow together. */
export class TokenBuffer {
  /** See GrowableInt32. */
  expected = 0;
  operations = new Uint8Array(FIRST_NUMBERS);
  operands = new Float64Array(FIRST_NUMBERS);
  length = 0;

  push(operation: number, operand: number): void {
    if (this.length === this.operations.length) this.#grow();
    this.operations[this.length] = operation;
    this.operands[this.length++] = operand;
  }

  #grow(): void {
    const length = grownLength(this.length, this.expected);
    this.operations = resizedUint8(this.operations, length);
    this.operands = resizedFloat64(this.operands, length);
  }
}
