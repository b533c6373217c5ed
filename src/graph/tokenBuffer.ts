import { grownLength, MIN_ROWS } from '../base/columns.js';
import { resizedFloat64, resizedUint8 } from '../base/resized.js';

/** Operations and operands of expressions, which grow together. */
export class TokenBuffer {
  /** See `grownLength`. */
  expected = 0;
  operations = new Uint8Array(MIN_ROWS);
  operands = new Float64Array(MIN_ROWS);
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
