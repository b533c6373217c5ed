// The pending calls of a cluster's callers. The dump of a cluster lists them, so that a program that seems to hang
// shows the call that does not return. Costs about 0.2 µs per call.
import { getOrMake } from '../base/lookUps.js';

/** Pending calls of one kind. */
export interface WaitDump {
  /** Name of the call, e.g. `Future.result`. */
  readonly what: string;
  /** Subject of the oldest call, e.g. the key of a task. */
  readonly subject: string;
  readonly count: number;
  /** Seconds since the start of the oldest call. */
  readonly age: number;
}

interface OpenWait {
  readonly what: string;
  readonly subject: string;
  readonly since: number;
  readonly holds: unknown;
}

export class OpenWaits {
  readonly #open = new Set<OpenWait>();

  /**
   * Lists a call until `work` settles.
   *
   * @param holds objects that must not be garbage collected meanwhile
   * @returns the outcome of `work`
   */
  async during<R>(what: string, subject: string, work: Promise<R>, holds?: unknown): Promise<R> {
    const wait = { what, subject, since: performance.now(), holds };
    this.#open.add(wait);
    try {
      return await work;
    } finally {
      this.#open.delete(wait);
    }
  }

  /** Returns the pending calls, the oldest first. */
  dump(): WaitDump[] {
    const now = performance.now();
    const byWhat = new Map<string, { what: string; subject: string; count: number; age: number }>();
    // The set is in the order of insertion, so the first call of each kind is the oldest.
    for (const { what, subject, since } of this.#open) {
      const age = Math.round(now - since) / 1000;
      getOrMake(byWhat, what, () => ({ what, subject, count: 0, age })).count++;
    }
    return [...byWhat.values()];
  }
}
