/**
 * Carries out instructions in order. Instructions that follow from an earlier one, e.g. from the answer to a steal, wait
 * until those before them are carried out.
 */
export class InOrder<T> {
  readonly #pending: T[] = [];
  readonly #carryOut: (instruction: T) => void;
  #isRunning = false;

  constructor(carryOut: (instruction: T) => void) {
    this.#carryOut = carryOut;
  }

  run(instructions: readonly T[]): void {
    for (const one of instructions) this.#pending.push(one);
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift())
        this.#carryOut(next);
    } finally {
      this.#isRunning = false;
    }
  }
}
