// The value of one variable, or the flag of one event. A pure state machine: calls wait until there is a value.
import type { Leave } from './waitFor.js';

export class VariableCell<V> {
  #content: { readonly value: V } | undefined;
  readonly #waiting = new Set<{ readonly answer: (value: V) => void }>();

  get isSet(): boolean {
    return this.#content !== undefined;
  }

  get isUnused(): boolean {
    return !this.isSet && this.#waiting.size === 0;
  }

  /** Replaces the value, and answers all calls that wait. Returns the previous value. */
  set(value: V): { readonly value: V } | undefined {
    const before = this.#content;
    this.#content = { value };
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const { answer } of waiting) answer(value);
    return before;
  }

  /** Removes the value. Returns it. */
  delete(): { readonly value: V } | undefined {
    const before = this.#content;
    this.#content = undefined;
    return before;
  }

  /** @returns undefined if there is a value */
  get(answer: (value: V) => void): Leave | undefined {
    if (this.#content !== undefined) {
      answer(this.#content.value);
      return undefined;
    }
    const call = { answer };
    this.#waiting.add(call);
    return () => void this.#waiting.delete(call);
  }
}
