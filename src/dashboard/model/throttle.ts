// Limits how often an expensive computation runs, so that a live page stays responsive.

/** Pause after a computation, as a multiple of its duration. */
const PAUSE_FACTOR = 8;

/** Enforces a pause after each computation. Calls of `remaining` during the pause do not extend it. */
export class Throttle {
  readonly #minimum: number;
  readonly #now: () => number;
  #end = 0;

  /** @param minimum shortest pause, in milliseconds */
  constructor(minimum = 0, now: () => number = () => performance.now()) {
    this.#minimum = minimum;
    this.#now = now;
  }

  /** Milliseconds until the pause ends; 0 if there is none. */
  get remaining(): number {
    return Math.max(0, this.#end - this.#now());
  }

  run<T>(compute: () => T): T {
    const before = this.#now();
    const value = compute();
    const now = this.#now();
    this.#end = now + Math.max(this.#minimum, (now - before) * PAUSE_FACTOR);
    return value;
  }
}
