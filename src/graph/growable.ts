// Typed arrays that grow by doubling. Push is two loads and a store; `take` gives the filled part without a copy. V8 starts
// to collect garbage after every 64 MB of typed arrays, whatever else there is: one that has grown large goes to the
// expected size at once.
import { resizedFloat64, resizedInt32, resizedUint8 } from '../base/resized.js';

/** Up to 64 bytes are on V8's heap: a graph of a few tasks allocates nothing outside it. */
const FIRST_INTEGERS = 16;
const FIRST_NUMBERS = 8;
/** From here on, in elements, what is expected to be needed is taken at once. */
const LARGE = 1 << 15;

function grownLength(length: number, expected: number): number {
  return length >= LARGE && expected > length ? expected : 2 * length;
}

export class GrowableInt32 {
  /** How long it may become, if that is known. A guess: it grows beyond. */
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

  /** The filled part; a view, valid until the next push. */
  take(): Int32Array {
    return this.#array.subarray(0, this.length);
  }

  #grow(): void {
    this.#array = resizedInt32(this.#array, grownLength(this.length, this.expected));
  }
}

/** The operations and operands of expressions, growing together. */
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
