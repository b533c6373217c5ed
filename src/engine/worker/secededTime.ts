// Measures how long seceded tasks use their thread. The thread also runs the tasks in its slot, and seceded tasks await
// results. The rest of the time belongs to them, unless the thread is idle.
import type { TaskAway } from '../../protocol/taskRun.js';
import { idleTime } from '../../resources/idleTime.js';

export interface ThreadTimes {
  /** Seconds since the epoch. */
  now(): number;
  /** CPU seconds of the thread; NaN if they cannot be read. */
  cpuSeconds(): number;
  /** Seconds in which its event loop was idle. */
  idleSeconds(): number;
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

  /** Divides the time until now. A task begins (1) or ceases (-1) to run its own code. Returns the time. */
  change(by: 1 | 0 | -1): number {
    const now = this.#thread.now();
    const idle = this.#thread.idleSeconds();
    const slots = this.#thread.slotSeconds;
    const cpu = this.#thread.cpuSeconds();
    if (this.#open > 0) {
      // How much CPU time the tasks in the slot used is not known: all of their time is assumed.
      const inSlot = slots - this.#slots;
      const outside = Math.max(0, now - this.#now - inSlot);
      const used = Math.min(outside, Math.max(0, cpu - this.#cpu - inSlot));
      const busy = Math.max(0, outside - idleTime(outside, idle - this.#idle, used));
      this.seconds += busy / this.#open;
      this.cpuSeconds += (Math.min(busy, used) || 0) / this.#open;
    }
    this.#open += by;
    this.#now = now;
    this.#idle = idle;
    this.#slots = slots;
    this.#cpu = cpu;
    return now;
  }
}

/** Seconds in which a task used its thread, and CPU seconds among them. */
interface UsedTime {
  seconds: number;
  cpuSeconds: number;
}

export class SecededTime {
  readonly #shares: SecededShares;
  readonly #left: number;
  #resumed: number;
  /** Values of the shares up to which the time of the task has been added; undefined while it awaits a result. */
  #since: Readonly<UsedTime> | undefined;
  #inMeters: boolean;
  /** Time outside the meters of the task, and time inside them. */
  readonly outside: UsedTime = { seconds: 0, cpuSeconds: 0 };
  readonly inside: UsedTime = { seconds: 0, cpuSeconds: 0 };

  /**
   * @param left time at which the task left its slot
   * @param waits whether the task awaits a result
   * @param inMeters whether a meter of the task is open
   */
  constructor(shares: SecededShares, left: number, waits: boolean, inMeters: boolean) {
    this.#shares = shares;
    this.#left = left;
    this.#inMeters = inMeters;
    if (!waits) this.resume();
    this.#resumed = left;
  }

  /** The task awaits a result. */
  pause(): void {
    if (this.#since === undefined) return;
    this.#shares.change(-1);
    this.#add(this.#since);
    this.#since = undefined;
  }

  /** The task has the last of the awaited results. */
  resume(): void {
    this.#resumed = this.#shares.change(1);
    this.#since = this.#soFar();
  }

  /** The first meter of the task has opened, or the last one has closed. */
  meter(isOpen: boolean): void {
    if (this.#since !== undefined) {
      this.#shares.change(0);
      this.#add(this.#since);
      this.#since = this.#soFar();
    }
    this.#inMeters = isOpen;
  }

  end(stop: number): TaskAway {
    const isWaiting = this.#since === undefined;
    this.pause();
    const resumed = isWaiting ? stop : Math.min(this.#resumed, stop);
    const used = this.outside.seconds + this.inside.seconds;
    return { seceded: this.#left, resumed, waited: Math.max(0, stop - this.#left - used) };
  }

  #soFar(): UsedTime {
    return { seconds: this.#shares.seconds, cpuSeconds: this.#shares.cpuSeconds };
  }

  #add(since: Readonly<UsedTime>): void {
    const sum = this.#inMeters ? this.inside : this.outside;
    sum.seconds += this.#shares.seconds - since.seconds;
    sum.cpuSeconds += this.#shares.cpuSeconds - since.cpuSeconds;
  }
}
