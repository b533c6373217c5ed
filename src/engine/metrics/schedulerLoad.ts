// Measures how busy the scheduler was, per kind of stimulus, and how late its thread was. The figures show whether
// the scheduler was the bottleneck.

import { type IntervalHistogram, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { getOrMake } from '../../base/lookUps.js';

/** Milliseconds between two polls of the event loop. */
const RESOLUTION_MS = 10;

export interface StimulusLoad {
  readonly count: number;
  readonly seconds: number;
}

export interface EventLoopDelay {
  /** Mean delay of a timer in seconds since the last call. */
  readonly mean: number;
  readonly max: number;
  readonly p99: number;
  /** Longest time between two polls in seconds since the last call; normally the resolution. */
  readonly longest: number;
}

export class SchedulerLoad {
  readonly #load = new Map<string, { count: number; seconds: number }>();
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  readonly #gc: PerformanceObserver;
  #ticks = 0;
  #gcSeconds = 0;

  constructor() {
    this.#delay.enable();
    this.#gc = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) this.#gcSeconds += duration / 1000;
    });
    this.#gc.observe({ entryTypes: ['gc'] });
  }

  /** Polls of the event loop since the creation of this object. */
  get ticks(): number {
    return this.#ticks + this.#delay.count;
  }

  /** Seconds of garbage collection on this thread since the creation of this object. */
  get gcSeconds(): number {
    return this.#gcSeconds;
  }

  /** Runs the scheduler's work for a stimulus, e.g. `tasks-finished`, and counts the time. Costs ~0.1 µs. */
  measure<T>(stimulus: string, work: () => T): T {
    const start = performance.now();
    try {
      return work();
    } finally {
      this.add(stimulus, (performance.now() - start) / 1000);
    }
  }

  add(stimulus: string, seconds: number): void {
    const load = getOrMake(this.#load, stimulus, () => ({ count: 0, seconds: 0 }));
    load.count++;
    load.seconds += seconds;
  }

  /** Stimulus → number of calls, and seconds in all. */
  get stimuli(): ReadonlyMap<string, StimulusLoad> {
    return this.#load;
  }

  get busySeconds(): number {
    let sum = 0;
    for (const { seconds } of this.#load.values()) sum += seconds;
    return sum;
  }

  /** Returns the delay of this thread's timers since the last call; 0 if none was due. */
  takeEventLoopDelay(): EventLoopDelay {
    const { mean, max, count } = this.#delay;
    const p99 = this.#delay.percentile(99);
    this.#ticks += count;
    this.#delay.reset();
    // The histogram has the time between polls, from which the resolution is subtracted.
    const late = (nanoseconds: number): number =>
      count === 0 ? 0 : Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS) / 1000;
    const longest = count === 0 ? 0 : max / 1e9;
    return { mean: late(mean), max: late(max), p99: late(p99), longest };
  }

  close(): void {
    this.#delay.disable();
    this.#gc.disconnect();
  }
}
