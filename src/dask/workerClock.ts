// Estimates the offset between the clocks of a Dask worker and the scheduler. distributed uses half of a heartbeat's
// round trip, which is wrong by many milliseconds if the event loop is busy. The times of messages give bounds: no
// message is received before it was sent.

/** Seconds of a window. Bounds of the present and the previous window count; older ones do not, because clocks drift. */
const WINDOW = 60;

interface Bounds {
  /** Start of the window on the scheduler's clock. */
  readonly since: number;
  lower: number;
  upper: number;
}

export class WorkerClock {
  /** Whether the worker and the scheduler use the same clock. */
  isShared: boolean;
  /** Correction that distributed adds to this worker's clock, which is used until there are bounds. */
  estimate = 0;
  #now: Bounds = empty(Number.NEGATIVE_INFINITY);
  #before: Bounds = this.#now;

  constructor(isShared: boolean) {
    this.isShared = isShared;
  }

  /** Adds a message from the scheduler: `sent` on its clock, `received` on the worker's clock. Ignores NaN. */
  sent(sent: number, received: number): void {
    const bounds = this.#window(sent);
    if (sent - received > bounds.lower) bounds.lower = sent - received;
  }

  /** Adds a report to the scheduler: `done` on the worker's clock, `known` on the scheduler's clock. Ignores NaN. */
  reported(done: number, known: number): void {
    const bounds = this.#window(known);
    if (known - done < bounds.upper) bounds.upper = known - done;
  }

  /** Seconds to add to the worker's times. Its error is at most half of the shortest round trip of the last minutes. */
  get offset(): number {
    if (this.isShared) return 0;
    const lower = Math.max(this.#now.lower, this.#before.lower);
    const upper = Math.min(this.#now.upper, this.#before.upper);
    // The clock was set or drifts, so only newer bounds count.
    if (lower > upper) return middle(this.#now.lower, this.#now.upper, this.estimate);
    return middle(lower, upper, this.estimate);
  }

  #window(time: number): Bounds {
    if (time - this.#now.since > WINDOW) {
      this.#before = this.#now;
      this.#now = empty(time);
    }
    return this.#now;
  }
}

function empty(since: number): Bounds {
  return { since, lower: Number.NEGATIVE_INFINITY, upper: Number.POSITIVE_INFINITY };
}

function middle(lower: number, upper: number, estimate: number): number {
  if (lower > upper) return estimate;
  if (Number.isFinite(lower) && Number.isFinite(upper)) return (lower + upper) / 2;
  return Math.min(Math.max(estimate, lower), upper);
}
