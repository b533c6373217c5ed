// Finds when the scheduler's thread, on which the program runs, waited for a core. Linux counts these waits, and each
// sample of the host has their sum. A wait counts when it ends, so it may be longer than the time since the previous
// sample.
import { firstWhere, oncePer } from '../base/lookUps.js';
import { SCHEDULER_CORE_WAIT } from '../protocol/traceSchema.js';
import type { Trace } from '../trace/trace.js';

/** Samples in order of time. */
interface CoreWaits {
  readonly times: Float64Array;
  /** Seconds of waits in the time from the previous sample to this one; 0 for the first sample. */
  readonly seconds: Float64Array;
}

/**
 * Gives away the waits of the scheduler's thread for a core, each once. When the thread waited between two samples is
 * not known, so the first request for a part of this time receives all waits that fit in.
 */
export class SchedulerCoreWaits {
  readonly #times: Float64Array;
  readonly #left: Float64Array;

  constructor(trace: Trace) {
    const { times, seconds } = coreWaitsOf(trace);
    this.#times = times;
    this.#left = seconds.slice();
  }

  /** Whether the trace has the waits. */
  get isMeasured(): boolean {
    return this.#times.length > 1;
  }

  /** Returns the seconds between two times in which the thread may have waited for a core; 0 if unknown. */
  take(start: number, stop: number): number {
    const times = this.#times;
    let seconds = 0;
    for (let at = firstWhere(0, times.length, (i) => times[i]! > start); at < times.length; at++) {
      const from = times[at - 1] ?? times[at]!;
      if (from >= stop) break;
      const taken = Math.min(this.#left[at]!, Math.min(times[at]!, stop) - Math.max(from, start));
      if (!(taken > 0)) continue;
      this.#left[at]! -= taken;
      seconds += taken;
    }
    return seconds;
  }
}

const coreWaitsOf = oncePer((trace: Trace): CoreWaits => {
  const { length, worker, time, figures } = trace.resources;
  const sums = figures.get(SCHEDULER_CORE_WAIT);
  const rows = Int32Array.from({ length: sums === undefined ? 0 : length }, (_, row) => row).filter(
    (row) => worker[row] === -1 && sums![row]! >= 0,
  );
  rows.sort((a, b) => time[a]! - time[b]!);
  const times = Float64Array.from(rows, (row) => time[row]!);
  const seconds = new Float64Array(rows.length);
  let early = 0;
  for (let at = rows.length - 1; at > 0; at--) {
    const waited = early + Math.max(0, sums![rows[at]!]! - sums![rows[at - 1]!]!);
    seconds[at] = Math.min(waited, times[at]! - times[at - 1]!);
    // The remainder was before the previous sample.
    early = waited - seconds[at]!;
  }
  return { times, seconds };
});
