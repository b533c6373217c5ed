// What the callers of a cluster wait for at this moment. The dump of a cluster lists the waits, so that a program that seems to
// hang names the call that does not return. Costs about 0.2 µs per wait.

/** Waits of one kind. */
export interface WaitDump {
  /** The call that waits, e.g. `Future.result`. */
  readonly what: string;
  /** What the oldest of them waits for, e.g. the key of a task. */
  readonly subject: string;
  readonly count: number;
  /** Seconds since the oldest of them began. */
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
   * Lists the wait for `work` until that settles.
   *
   * @param holds objects that the garbage collector must not take meanwhile
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

  /** The oldest wait first. */
  dump(): WaitDump[] {
    const now = performance.now();
    const byWhat = new Map<string, { what: string; subject: string; count: number; age: number }>();
    // The set is in the order of time, so the first wait of each kind is the oldest.
    for (const { what, subject, since } of this.#open) {
      const known = byWhat.get(what) ?? {
        what,
        subject,
        count: 0,
        age: Math.round(now - since) / 1000,
      };
      known.count++;
      byWhat.set(what, known);
    }
    return [...byWhat.values()];
  }
}
