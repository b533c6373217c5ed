// The thread-seconds that connected workers offered while a computation had unfinished tasks. The sum stays exact while
// rows are evicted. Computations overlap, and their times arrive in any order.
import { ThreadSeconds } from '../base/threadSeconds.js';

interface Period {
  start: number;
  stop: number;
}

/** Most periods with unfinished tasks that are kept. Time before the end of a discarded period is not counted again. */
const MAX_PERIODS = 10_000;

export class OfferedTime {
  readonly #threads = new ThreadSeconds();
  /** Counted periods, in order of time and without overlaps. */
  readonly #periods: Period[] = [];
  /** Time up to which nothing is added. */
  #settled = Number.NEGATIVE_INFINITY;
  /** Thread-seconds in the counted periods. */
  seconds = 0;

  /** Changes the number of threads. Report changes in order of time, and before the periods that they affect. */
  changeThreads(time: number, change: number): void {
    if (Number.isFinite(time)) this.#threads.change(time, change);
  }

  /** Adds a period with unfinished tasks. Parts that were counted before do not count again. */
  add(start: number, stop: number): void {
    const from = Math.max(start, this.#settled);
    if (!(stop > from)) return;
    const periods = this.#periods;
    let last = periods.length;
    while (last > 0 && periods[last - 1]!.start > stop) last--;
    let first = last;
    while (first > 0 && periods[first - 1]!.stop >= from) first--;
    const joined = { start: from, stop };
    let counted = from;
    for (const period of periods.slice(first, last)) {
      if (period.start > counted) this.#count(counted, period.start);
      counted = Math.max(counted, period.stop);
      joined.start = Math.min(joined.start, period.start);
      joined.stop = Math.max(joined.stop, period.stop);
    }
    if (stop > counted) this.#count(counted, stop);
    periods.splice(first, last - first, joined);
    if (periods.length > MAX_PERIODS) this.#settled = periods.shift()?.stop ?? this.#settled;
  }

  #count(start: number, stop: number): void {
    this.seconds += this.#threads.at(stop) - this.#threads.at(start);
  }
}
