// Typed arrays that grow by doubling. Push is two loads and a store; `take` gives the filled part without a copy.

export class GrowableInt32 {
  #array: Int32Array;
  length = 0;

  constructor(capacity = 64) {
    this.#array = new Int32Array(capacity);
  }

  push(value: number): void {
    if (this.length === this.#array.length) {
      const larger = new Int32Array(this.#array.length * 2);
      larger.set(this.#array);
      this.#array = larger;
    }
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
}

/** The operations and operands of expressions, growing together. */
export class TokenBuffer {
  operations = new Uint8Array(256);
  operands = new Float64Array(256);
  length = 0;

  push(operation: number, operand: number): void {
    if (this.length === this.operations.length) this.#grow();
    this.operations[this.length] = operation;
    this.operands[this.length++] = operand;
  }

  #grow(): void {
    const operations = new Uint8Array(this.length * 2);
    operations.set(this.operations);
    this.operations = operations;
    const operands = new Float64Array(this.length * 2);
    operands.set(this.operands);
    this.operands = operands;
  }
}
