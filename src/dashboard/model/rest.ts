// The rest between two computations of what may cost much, so that a page that goes on changing stays usable.

/** A computation that took a while is not done again for so many times as long. */
const PATIENCE = 8;

/** When it ends does not depend on how often somebody asks in between: what is asked for in the meantime is not put off by it. */
export class Rest {
  readonly #least: number;
  readonly #now: () => number;
  #end = 0;

  /** @param least milliseconds; after work that took none */
  constructor(least = 0, now: () => number = () => performance.now()) {
    this.#least = least;
    this.#now = now;
  }

  /** Milliseconds until it ends. */
  get left(): number {
    return Math.max(0, this.#end - this.#now());
  }

  /** Computes, and begins to rest. */
  after<T>(compute: () => T): T {
    const before = this.#now();
    const value = compute();
    const now = this.#now();
    this.#end = now + Math.max(this.#least, (now - before) * PATIENCE);
    return value;
  }
}
