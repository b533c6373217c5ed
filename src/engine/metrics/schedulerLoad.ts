// Measures how late the scheduler's thread was, and its garbage collection. The figures show whether the scheduler was the
// bottleneck.

import { type IntervalHistogram, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/** Milliseconds between two polls of the event loop. */
const RESOLUTION_MS = 10;

export interface EventLoopDelay {
  /** Longest delay of a timer in seconds since the last call. */
  readonly max: number;
  /** Longest time between two polls in seconds since the last call; normally the resolution. */
  readonly longest: number;
}

export class SchedulerLoad {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  readonly #gc: PerformanceObserver;
  #ticks = 0;
  /** Seconds of garbage collection on this thread since the creation of this object. */
  gcSeconds = 0;

  constructor() {
    this.#delay.enable();
    this.#gc = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) this.gcSeconds += duration / 1000;
    });
    this.#gc.observe({ entryTypes: ['gc'] });
  }

  /** Polls of the event loop since the creation of this object. */
  get ticks(): number {
    return this.#ticks + this.#delay.count;
  }

  /** Returns the delay of this thread's timers since the last call; 0 if none was due. */
  takeEventLoopDelay(): EventLoopDelay {
    const { max, count } = this.#delay;
    this.#ticks += count;
    this.#delay.reset();
    if (count === 0) return { max: 0, longest: 0 };
    // The histogram has the time between polls, from which the resolution is subtracted.
    return { max: Math.max(0, max / 1e6 - RESOLUTION_MS) / 1000, longest: max / 1e9 };
  }

  close(): void {
    this.#delay.disable();
    this.#gc.disconnect();
  }
}
