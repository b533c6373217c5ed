// Estimates how long the scheduler's thread, on which the program runs, waited for a core in parts of the run. Linux
// counts these waits, and each sample of the host has their sum. A wait counts when it ends, so it may be longer than the
// time since the previous sample.
import { firstWhere, oncePer } from '../base/lookUps.js';
import { SCHEDULER_CORE_TIME, SCHEDULER_CORE_WAIT } from '../protocol/traceNames.js';
import type { Trace } from '../trace/trace.js';
import { machineRows } from './coreUse.js';

/** Samples in order of time. */
interface CoreWaits {
  readonly times: Float64Array;
  /** Seconds of waits in the time from the previous sample to this one; for the first sample, from the start of the thread. */
  readonly waited: Float64Array;
  /** Seconds of CPU in this time. */
  readonly used: Float64Array;
  /** Share of these waits in the time in which the thread wanted a core, 0 to 1. */
  readonly share: Float64Array;
}

/**
 * Gives away the waits of the scheduler's thread for a core, each once. When the thread waited between two samples is not
 * known. A part of this time in which the thread wanted a core receives the mean share of waits.
 */
export class SchedulerCoreWaits {
  readonly #waits: CoreWaits;
  readonly #left: Float64Array;

  constructor(trace: Trace) {
    this.#waits = coreWaitsOf(trace);
    this.#left = this.#waits.waited.slice();
  }

  /** Whether the trace has the waits. */
  get isMeasured(): boolean {
    return this.#left.length > 0;
  }

  /** Returns the seconds between two times in which the thread wanted a core, at most; Infinity if unknown. */
  wanted(start: number, stop: number): number {
    const { times, waited, used } = this.#waits;
    if (!this.isMeasured) return Number.POSITIVE_INFINITY;
    // A thread that computes takes no samples, so it may have computed before the first and after the last one.
    let seconds = Math.max(0, times[0]! - start) + Math.max(0, stop - times.at(-1)!);
    for (let at = 1; at < times.length && times[at - 1]! < stop; at++)
      if (times[at]! > start) seconds += waited[at]! + used[at]!;
    return seconds;
  }

  /** Returns the seconds between two times in which the thread waited for a core; 0 if unknown. */
  take(start: number, stop: number): number {
    const { times, share } = this.#waits;
    let seconds = 0;
    for (let at = firstWhere(0, times.length, (i) => times[i]! > start); at < times.length; at++) {
      // A thread that computes takes no samples, e.g. a program that submits its first tasks.
      const from = times[at - 1] ?? times[0]! - this.#waits.waited[0]! - this.#waits.used[0]!;
      if (from >= stop) break;
      const inside = Math.min(times[at]!, stop) - Math.max(from, start);
      const taken = Math.min(this.#left[at]!, inside * share[at]!);
      if (!(taken > 0)) continue;
      this.#left[at]! -= taken;
      seconds += taken;
    }
    return seconds;
  }
}

const coreWaitsOf = oncePer((trace: Trace): CoreWaits => {
  const { time, figures } = trace.resources;
  const used = figures.get(SCHEDULER_CORE_TIME);
  const waited = figures.get(SCHEDULER_CORE_WAIT);
  const isKnown = used !== undefined && waited !== undefined;
  const rows = machineRows(trace).filter((row) => isKnown && used[row]! >= 0 && waited[row]! >= 0);
  const times = Float64Array.from(rows, (row) => time[row]!);
  const seconds = new Float64Array(rows.length);
  const computed = new Float64Array(rows.length);
  const share = new Float64Array(rows.length);
  const increase = (sums: Float64Array, at: number): number =>
    Math.max(0, sums[rows[at]!]! - (at === 0 ? 0 : sums[rows[at - 1]!]!));
  let early = 0;
  for (let at = rows.length - 1; at >= 0; at--) {
    const all = early + increase(waited!, at);
    seconds[at] = Math.min(all, times[at]! - (times[at - 1] ?? Number.NEGATIVE_INFINITY));
    // The remainder was before the previous sample.
    early = all - seconds[at]!;
    computed[at] = increase(used!, at);
    share[at] = seconds[at]! / (seconds[at]! + computed[at]!) || 0;
  }
  return { times, waited: seconds, used: computed, share };
});
