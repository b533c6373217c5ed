// The flag of one event. A pure state machine: calls wait until the flag is set.
import type { Leave } from './waitFor.js';

export class EventFlag {
  #isSet = false;
  readonly #waiting = new Set<() => void>();

  get isSet(): boolean {
    return this.#isSet;
  }

  get isUnused(): boolean {
    return !this.#isSet && this.#waiting.size === 0;
  }

  /** Answers all calls that wait. */
  set(): void {
    this.#isSet = true;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const answer of waiting) answer();
  }

  clear(): void {
    this.#isSet = false;
  }

  /** @returns undefined if the flag is set */
  wait(answer: () => void): Leave | undefined {
    // Each call is a function of its own, even if the program passes the same one twice.
    const call = (): void => answer();
    if (this.#isSet) {
      call();
      return undefined;
    }
    this.#waiting.add(call);
    return () => void this.#waiting.delete(call);
  }
}
