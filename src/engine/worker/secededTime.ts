// Measures how long seceded tasks use their thread. The thread also runs the tasks in its slot, and seceded tasks await
// results. The rest of the time belongs to them, unless the thread is idle.
import type { TaskAway } from '../../protocol/taskRun.js';

/** Readings of a thread. */
export interface ThreadTimes {
  /** Seconds since the epoch. */
  now(): number;
  /** CPU seconds of the thread; NaN if they cannot be read. */
  cpuSeconds(): number;
  /** Seconds in which tasks were in the slot. */
  readonly slotSeconds: number;
}

/** Seconds by which the event loop was idle. A reading costs 0.4 µs. */
export function idleSeconds(): number {
  return performance.eventLoopUtilization().idle / 1000;
}

/**
 * Divides the time in which a thread is busy outside its slot among the seceded tasks that await no result. It is not
 * known which of them runs.
 */
export class SecededShares {
  readonly #thread: ThreadTimes;
  #open = 0;
  #now = 0;
  #idle = 0;
  #slots = 0;
  #cpu = 0;
  /** Seconds, and CPU seconds, of a task that has been open since the start of the thread. */
  seconds = 0;
  cpuSeconds = 0;

  constructor(thread: ThreadTimes) {
    this.#thread = thread;
  }

  /** A task begins (1) or ceases (-1) to run its own code. Returns the time. */
  change(by: 1 | -1): number {
    const now = this.#thread.now();
    const idle = idleSeconds();
    const slots = this.#thread.slotSeconds;
    const cpu = this.#thread.cpuSeconds();
    if (this.#open > 0) {
      const busy = Math.max(0, now - this.#now - (idle - this.#idle) - (slots - this.#slots));
      this.seconds += busy / this.#open;
      this.cpuSeconds += (Math.min(busy, Math.max(0, cpu - this.#cpu)) || 0) / this.#open;
    }
    this.#open += by;
    this.#now = now;
    this.#idle = idle;
    this.#slots = slots;
    this.#cpu = cpu;
    return now;
  }
}

/** The time of one seceded task. */
export class SecededTime {
  readonly #shares: SecededShares;
  readonly #left: number;
  #resumed: number;
  /** Values of the shares at the time from which the task awaits no result. */
  #since: { readonly seconds: number; readonly cpuSeconds: number } | undefined;
  /** Seconds in which the task used the thread, and CPU seconds among them. */
  used = 0;
  usedCpu = 0;

  /** @param left time at which the task left its slot */
  constructor(shares: SecededShares, left: number, waits: boolean) {
    this.#shares = shares;
    this.#left = left;
    if (!waits) this.resume();
    this.#resumed = left;
  }

  /** The task awaits a result. */
  pause(): void {
    if (this.#since === undefined) return;
    this.#shares.change(-1);
    this.used += this.#shares.seconds - this.#since.seconds;
    this.usedCpu += this.#shares.cpuSeconds - this.#since.cpuSeconds;
    this.#since = undefined;
  }

  /** The task has the last of the awaited results. */
  resume(): void {
    this.#resumed = this.#shares.change(1);
    const { seconds, cpuSeconds } = this.#shares;
    this.#since = { seconds, cpuSeconds };
  }

  /** The task ended at `stop`. */
  end(stop: number): TaskAway {
    const isWaiting = this.#since === undefined;
    this.pause();
    const resumed = isWaiting ? stop : Math.min(this.#resumed, stop);
    return { seceded: this.#left, resumed, waited: Math.max(0, stop - this.#left - this.used) };
  }
}
