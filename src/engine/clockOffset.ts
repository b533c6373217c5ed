// Estimates the offset between this worker's clock and the scheduler's. A heartbeat carries the worker's time, and its
// answer the scheduler's time. The fastest answer is the most exact, because the scheduler read its clock between
// sending and receiving. All recorded times are corrected by the estimate.

/** Times of one heartbeat, in seconds. */
export interface ClockSample {
  /** Sending of the heartbeat, on this worker's clock. */
  readonly sent: number;
  /** Time of the answer, on the scheduler's clock. */
  readonly remote: number;
  /** Receipt of the answer, on this worker's clock. */
  readonly received: number;
}

/** Number of remembered heartbeats, about ten seconds. */
const WINDOW = 20;
/**
 * Assumed drift between two clocks, in seconds per second; computers stay below a tenth of it. The uncertainty of a
 * sample grows at this rate, so that the estimate follows the drift.
 */
const DRIFT = 2e-4;

export class ClockOffset {
  readonly #window: number;
  readonly #samples: ClockSample[] = [];
  #best: ClockSample | undefined;

  /** @param window number of remembered heartbeats. Default: 20 */
  constructor(window = WINDOW) {
    this.#window = window;
  }

  /**
   * Adds an answered heartbeat. Ignores one with impossible times.
   *
   * @source the heartbeat's time in Dask ("A note about times"), and the clock filter of NTP, which selects the sample
   *   with the lowest round trip of a window and ages older ones
   */
  add(sample: ClockSample): void {
    if (!(roundTripOf(sample) >= 0) || !Number.isFinite(sample.remote)) return;
    this.#samples.push(sample);
    if (this.#samples.length > this.#window) this.#samples.shift();
    const now = sample.received;
    this.#best = this.#samples.reduce((best, one) =>
      uncertainty(one, now) < uncertainty(best, now) ? one : best,
    );
  }

  /** Seconds to add to this worker's times; 0 before the first answer. Exact to half of `roundTrip`. */
  get offset(): number {
    const best = this.#best;
    return best === undefined ? 0 : best.remote - (best.sent + best.received) / 2;
  }

  /** Round trip of the heartbeat behind the estimate, in seconds; NaN before the first answer. */
  get roundTrip(): number {
    return this.#best === undefined ? Number.NaN : roundTripOf(this.#best);
  }

  /** Round trip of the last heartbeat, in seconds; NaN before the first answer. */
  get latency(): number {
    const last = this.#samples.at(-1);
    return last === undefined ? Number.NaN : roundTripOf(last);
  }
}

function roundTripOf({ sent, received }: ClockSample): number {
  return received - sent;
}

/** Returns the uncertainty of a sample's estimate at `now`, in seconds. */
function uncertainty(sample: ClockSample, now: number): number {
  return roundTripOf(sample) / 2 + DRIFT * Math.max(0, now - sample.received);
}
