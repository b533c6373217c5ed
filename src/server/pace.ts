// How much of the scheduler's thread those who look may take: a small share of its time while it is busy, more while it would
// only wait. What is left over of a stretch of time is not saved, so that nobody who was idle bursts into a busy moment.

/** Of the time, whatever the thread does. */
const LEAST_SHARE = 0.015;
/**
 * Of the time, while the thread does nothing; half idle is a sixteenth of it: a scheduler at full speed waits now and then.
 * While tasks run little more, though the thread waits for them: the cores may be needed.
 */
const IDLE_SHARE = 0.5;
const COMPUTING_SHARE = 0.005;
/** Of the time, the same for the second page and each after it, up to so many: what they get is made once, but sent to each. */
const PAGE_SHARE = 0.005;
const MOST_PAGES = 10;

/**
 * Milliseconds that are owed at most, paid off in half a second while the thread is busy: what takes longer on the clock was
 * held up by other programs, and whoever looks must not wait for that.
 */
const MOST_DEBT = 8;
/** So many of the first things done are new to V8 and take many times as long as later: little of it is owed. */
const FIRST_TIMES = 60;
const FIRST_DEBT = 1;

export class Pace {
  /** Milliseconds. */
  readonly #clock: () => number;
  /** Milliseconds; below 0 something took longer than it was meant to. */
  #left: number;
  #last: number;
  /** How often time was spent. */
  #times = 0;
  #probed = performance.eventLoopUtilization();

  /** `first`: milliseconds that may be taken before the first call of `refill`. */
  constructor(first: number, clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#left = first;
    this.#last = clock();
  }

  /** Whether anything may be done now. */
  get hasTime(): boolean {
    return this.#left > 0;
  }

  /** Call it some milliseconds before `refill`: how busy the thread is in between counts for what comes. */
  probe(): void {
    this.#probed = performance.eventLoopUtilization();
  }

  /** Gives time for the stretch since the last call; `pages`: how many look. */
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
