// Limits the time that viewers take from the scheduler's thread: a small share while the thread is busy, more while it
// is idle. Unused time is not saved, so that no burst follows an idle period.

/** Share of the time that is always allowed. */
const LEAST_SHARE = 0.015;
/**
 * Additional share of the time while the thread is idle. It falls with the fourth power of the idle fraction, because a
 * scheduler at full speed also waits now and then.
 */
const IDLE_SHARE = 0.5;
/** Additional share while the thread is idle but tasks run, which may need the cores. */
const COMPUTING_SHARE = 0.005;
/** Additional share per page after the first, up to MOST_PAGES. Rows are encoded once but sent to each page. */
const PAGE_SHARE = 0.005;
const MOST_PAGES = 10;

/**
 * Largest debt in milliseconds. A busy thread pays it off in half a second. A measured duration above it is caused by
 * other programs on the machine, so the excess must not delay the viewers.
 */
const MOST_DEBT = 8;
/** Number of calls before V8 has optimised the code; each of them adds at most FIRST_DEBT milliseconds of debt. */
const FIRST_TIMES = 60;
const FIRST_DEBT = 1;

export class Pace {
  /** Returns milliseconds. */
  readonly #clock: () => number;
  /** Milliseconds that may be spent; negative values are debt. */
  #left: number;
  #last: number;
  /** Number of calls of `spend`. */
  #times = 0;
  #probed = performance.eventLoopUtilization();

  /** @param first milliseconds that may be spent before the first call of `refill` */
  constructor(first: number, clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#left = first;
    this.#last = clock();
  }

  /** True if time may be spent now. */
  get hasTime(): boolean {
    return this.#left > 0;
  }

  /** Starts to measure the load of the thread. Must be called some milliseconds before `refill`. */
  probe(): void {
    this.#probed = performance.eventLoopUtilization();
  }

  /** Adds the time allowed since the last call, for `pages` viewers. */
  refill(isComputing: boolean, pages: number): void {
    const now = this.#clock();
    const idle = 1 - performance.eventLoopUtilization(this.#probed).utilization;
    const computing = COMPUTING_SHARE + PAGE_SHARE * (Math.min(MOST_PAGES, pages) - 1);
    const allowed = (now - this.#last) * (LEAST_SHARE + (isComputing ? computing : IDLE_SHARE) * idle ** 4);
    this.#left = Math.min(0, this.#left) + allowed;
    this.#last = now;
  }

  spend(milliseconds: number): void {
    const most = this.#times++ < FIRST_TIMES ? FIRST_DEBT : MOST_DEBT;
    this.#left = Math.max(this.#left - milliseconds, Math.min(this.#left, -most));
  }
}
