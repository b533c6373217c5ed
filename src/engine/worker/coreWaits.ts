// Measures how long each task of a thread waited for a core. A reading of the run queue's clock costs as much as an
// empty task, so consecutive short tasks share readings.
import { type RunQueueClock, runQueueClock } from './runQueueClock.js';

/** Seconds for which tasks share a reading. */
const WINDOW_SECONDS = 1e-4;

let ofThread: CoreWaits | undefined;

export class CoreWaits {
  readonly #clock: RunQueueClock | undefined;
  /** Last reading of the clock, and its time; NaN if unknown. */
  #queued = Number.NaN;
  #queuedAt = Number.NEGATIVE_INFINITY;

  /** @param clock without it, waits for a core are unknown */
  constructor(clock: RunQueueClock | undefined) {
    this.#clock = clock;
  }

  /** Returns the waits of the calling thread. All callers share one, because its file stays open. */
  static ofThread(): CoreWaits {
    ofThread ??= new CoreWaits(runQueueClock());
    return ofThread;
  }

  /** Returns the reading to pass to `until` when a task starts at `start`. Its error is at most its age. */
  from(start: number): number {
    if (start - this.#queuedAt >= WINDOW_SECONDS) this.#read(start);
    return this.#queued;
  }

  /**
   * Returns the seconds in which a task waited for a core from `start` to `stop`, within 0.1 ms; 0 for shorter tasks,
   * NaN if unknown.
   */
  until(before: number, start: number, stop: number): number {
    const wall = stop - start;
    if (wall < WINDOW_SECONDS) return Number.isNaN(this.#queued) ? Number.NaN : 0;
    this.#read(stop);
    return Math.min(wall, this.#queued - before);
  }

  #read(now: number): void {
    if (this.#clock === undefined) return;
    this.#queued = this.#clock();
    this.#queuedAt = now;
  }
}
