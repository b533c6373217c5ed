// How far this worker's clock is from the scheduler's. Every heartbeat carries the worker's time and brings back the
// scheduler's; the answer that was fastest says most, because the scheduler read its clock somewhere between sending and
// receiving. All recorded times are corrected by the estimate.

/** Times of one heartbeat, in seconds. */
export interface ClockSample {
  /** On this worker's clock, when the heartbeat was sent. */
  readonly sent: number;
  /** On the scheduler's clock, when it answered. */
  readonly remote: number;
  /** On this worker's clock, when the answer came. */
  readonly received: number;
}

/** Heartbeats that are remembered: some ten seconds. */
const WINDOW = 20;
/**
 * Seconds per second by which two clocks may drift apart; those of computers stay below a tenth of it. An old sample counts
 * as so much less exact than it was, so that the estimate follows the drift.
 */
const DRIFT = 2e-4;

export class ClockOffset {
  readonly #window: number;
  readonly #samples: ClockSample[] = [];
  #best: ClockSample | undefined;

  /** `window`: heartbeats that are remembered. Default: 20. */
  constructor(window = WINDOW) {
    this.#window = window;
  }

  /**
   * Takes a heartbeat that has been answered. One with impossible times is passed over.
   *
   * @source the role of the heartbeat's time in Dask ("A note about times"), and the clock filter of NTP: the sample with
   *   the lowest round trip of a window, where older ones grow less exact
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

  /** Seconds to add to this worker's times; 0 until the first heartbeat is answered. Exact to half of `roundTrip`. */
  get offset(): number {
    const best = this.#best;
    return best === undefined ? 0 : best.remote - (best.sent + best.received) / 2;
  }

  /** Seconds that the heartbeat took on which the estimate rests; NaN until there is one. */
  get roundTrip(): number {
    return this.#best === undefined ? Number.NaN : roundTripOf(this.#best);
  }

  /** Seconds that the last heartbeat took; NaN until there is one. */
  get latency(): number {
    const last = this.#samples.at(-1);
    return last === undefined ? Number.NaN : roundTripOf(last);
  }

  /** A time of this worker's clock, on the scheduler's clock. */
  correct(time: number): number {
    return time + this.offset;
  }
}

function roundTripOf({ sent, received }: ClockSample): number {
  return received - sent;
}

/** Seconds by which the estimate from a sample may be wrong at `now`. */
function uncertainty(sample: ClockSample, now: number): number {
  return roundTripOf(sample) / 2 + DRIFT * Math.max(0, now - sample.received);
}
