// How busy the scheduler itself was, per kind of stimulus, and how late its thread was: what it takes to say that the
// scheduler was the bottleneck.
import { type IntervalHistogram, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/** Milliseconds between two looks at the event loop. */
const RESOLUTION_MS = 10;

export interface StimulusLoad {
  readonly count: number;
  readonly seconds: number;
}

export interface EventLoopDelay {
  /** Seconds by which a timer was late since the last call. */
  readonly mean: number;
  readonly max: number;
  readonly p99: number;
  /** Seconds between two looks at most since the last call, of which the resolution is the rule. */
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

  /** Looks at the event loop since it was made. */
  get ticks(): number {
    return this.#ticks + this.#delay.count;
  }

  /** Seconds of garbage collection on this thread since it was made. */
  get gcSeconds(): number {
    return this.#gcSeconds;
  }

  /** Runs what the scheduler does on a stimulus, e.g. `tasks-finished`, and counts the time. Costs ~0.1 µs. */
  measure<T>(stimulus: string, work: () => T): T {
    const start = performance.now();
    try {
      return work();
    } finally {
      this.add(stimulus, (performance.now() - start) / 1000);
    }
  }

  add(stimulus: string, seconds: number): void {
    const load = this.#load.get(stimulus);
    if (load === undefined) this.#load.set(stimulus, { count: 1, seconds });
    else {
      load.count++;
      load.seconds += seconds;
    }
  }

  /** Stimulus → how often, and how many seconds in all. */
  get stimuli(): ReadonlyMap<string, StimulusLoad> {
    return this.#load;
  }

  get busySeconds(): number {
    let sum = 0;
    for (const { seconds } of this.#load.values()) sum += seconds;
    return sum;
  }

  /** How late this thread's timers were since the last call; 0 if none was due. */
  takeEventLoopDelay(): EventLoopDelay {
    const { mean, max, count } = this.#delay;
    const p99 = this.#delay.percentile(99);
    this.#ticks += count;
    this.#delay.reset();
    // The histogram holds the time from one look to the next, of which the resolution is no delay.
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
