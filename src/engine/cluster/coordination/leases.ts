// The leases of one lock or semaphore. A pure state machine: callers are granted leases in the order of their calls, and
// never more than `max` leases are in use.
import type { Leave } from './waitFor.js';

interface Waiting<O> {
  readonly owner: O;
  readonly granted: () => void;
}

/** `O` identifies the task or client that holds leases. */
export class Leases<O> {
  readonly max: number;
  readonly #held = new Map<O, number>();
  /** In the order of the calls. */
  readonly #waiting = new Set<Waiting<O>>();
  #count = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** Number of leases in use. */
  get count(): number {
    return this.#count;
  }

  get isUnused(): boolean {
    return this.#count === 0 && this.#waiting.size === 0;
  }

  get holders(): Iterable<O> {
    return this.#held.keys();
  }

  /** Whether the owner has a lease. */
  has(owner: O): boolean {
    return this.#held.has(owner);
  }

  /**
   * Grants a lease, at once or later.
   *
   * @returns undefined if the lease was granted at once
   */
  acquire(owner: O, granted: () => void): Leave | undefined {
    const call = { owner, granted };
    this.#waiting.add(call);
    this.#grant();
    return this.#waiting.has(call) ? () => void this.#waiting.delete(call) : undefined;
  }

  /** Returns one lease of the owner. The result is false if the owner has none. */
  release(owner: O): boolean {
    const held = this.#held.get(owner);
    if (held === undefined) return false;
    if (held === 1) this.#held.delete(owner);
    else this.#held.set(owner, held - 1);
    this.#count--;
    this.#grant();
    return true;
  }

  /** Returns all leases of the owner. */
  releaseAll(owner: O): void {
    this.#count -= this.#held.get(owner) ?? 0;
    this.#held.delete(owner);
    this.#grant();
  }

  #grant(): void {
    for (const call of this.#waiting) {
      if (this.#count >= this.max) return;
      this.#waiting.delete(call);
      this.#count++;
      this.#held.set(call.owner, (this.#held.get(call.owner) ?? 0) + 1);
      call.granted();
    }
  }
}
