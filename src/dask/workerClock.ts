// How far a Dask worker's clock is from the scheduler's. distributed takes half of a heartbeat's round trip, and a busy event
// loop makes that wrong by many milliseconds. Messages say more: none is received before it was sent.

/** Seconds for which a bound counts fully; it is forgotten after twice as long, because clocks drift. */
const WINDOW = 60;

interface Bounds {
  /** When the window began, on the scheduler's clock. */
  readonly since: number;
  /** The offset is at least this: a message came so much "earlier" than it was sent. */
  lower: number;
  upper: number;
}

export class WorkerClock {
  /** The worker reads the clock that the scheduler reads. */
  isShared: boolean;
  /** What distributed itself adds to this worker's clock: the estimate until messages say more. */
  estimate = 0;
  #now: Bounds = empty(Number.NEGATIVE_INFINITY);
  #before: Bounds = this.#now;

  constructor(isShared: boolean) {
    this.isShared = isShared;
  }

  /** A message left the scheduler at `sent`; the worker had it at `received` of its own clock. NaN says nothing. */
  sent(sent: number, received: number): void {
    const bounds = this.#window(sent);
    if (sent - received > bounds.lower) bounds.lower = sent - received;
  }

  /** Something was done on the worker at `done` of its own clock; the scheduler knew it at `known`. NaN says nothing. */
  told(done: number, known: number): void {
    const bounds = this.#window(known);
    if (known - done < bounds.upper) bounds.upper = known - done;
  }

  /** Seconds to add to the worker's times. Exact to half of what the fastest messages of a minute took there and back. */
  get offset(): number {
    if (this.isShared) return 0;
    const lower = Math.max(this.#now.lower, this.#before.lower);
    const upper = Math.min(this.#now.upper, this.#before.upper);
    // The clock was set, or drifts: what is newer counts.
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
