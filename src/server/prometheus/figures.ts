// What a cluster is asked for when Prometheus scrapes it: plain numbers, which the families of this folder turn into samples.
import type { MetricKey } from '../../protocol/metrics.js';

/** Sums are since the cluster started. */
export interface ClusterFigures {
  readonly clients: number;
  readonly clientsAdded: number;
  readonly clientsRemoved: number;
  /** Workers that would have the work done in five seconds. */
  readonly desiredWorkers: number;
  readonly workersAdded: number;
  readonly workersRemoved: number;
  /** Task state (`waiting`, `processing`, `memory`, …) → tasks; those that are forgotten are not among them. */
  readonly tasks: ReadonlyMap<string, number>;
  readonly tasksForgotten: number;
  readonly workers: readonly WorkerFigures[];
  readonly prefixes: Iterable<PrefixFigures>;
  /** Scheduler.cumulativeWorkerMetrics. */
  readonly metrics: Iterable<readonly [MetricKey, number]>;
  /** Stimulus → how often the scheduler had it, and seconds. */
  readonly stimuli: ReadonlyMap<string, { readonly count: number; readonly seconds: number }>;
  readonly thread: ThreadFigures;
  readonly transfers: readonly TransferFigures[];
  readonly durations: Iterable<DurationFigures>;
  /** Upper bounds of the histograms' buckets in seconds, ascending. */
  readonly durationBounds: readonly number[];
}

/** The scheduler's own thread. */
export interface ThreadFigures {
  /** Seconds by which its timers were late at most since the last scrape. */
  readonly eventLoopDelay: number;
  /** Seconds between two turns of its event loop at most since the last scrape. */
  readonly longestTick: number;
  readonly ticks: number;
  /** Seconds of garbage collection. */
  readonly gcSeconds: number;
}

export interface WorkerFigures {
  readonly name: string;
  /** As Dask: `idle`, `partially_saturated`, `saturated`, `paused`. */
  readonly state: string;
  readonly threads: number;
  /** Bytes. */
  readonly managed: number;
  readonly unmanaged: number;
  readonly spilled: number;
  /** State (`executing`, `ready`, `memory`, `disk`, …) → tasks. */
  readonly tasks: ReadonlyMap<string, number>;
  readonly incomingBytes: number;
  readonly incomingCount: number;
  readonly outgoingBytes: number;
  readonly outgoingCount: number;
  /** Transfers that are under way. NaN: not known. */
  readonly open: OpenTransfers;
  /** Seconds of a round trip to it; NaN: it is in the scheduler's process, or not known yet. */
  readonly latency: number;
  /** Seconds of garbage collection; NaN: not known. */
  readonly gcSeconds: number;
  /** Seconds by which its thread's event loop is late; NaN: not known. */
  readonly eventLoopDelay: number;
  /** Work of its store: `[activity, unit]` → sum. */
  readonly spill: Iterable<readonly [activity: string, unit: string, value: number]>;
}

export interface OpenTransfers {
  readonly incomingBytes: number;
  readonly incomingCount: number;
  readonly outgoingBytes: number;
  readonly outgoingCount: number;
}

export interface PrefixFigures {
  readonly prefix: string;
  /** Final state → how many tasks have come to it. */
  readonly states: ReadonlyMap<string, number>;
  readonly computeSeconds: number;
  /** Seconds in which its results were moved between workers. */
  readonly transferSeconds: number;
  readonly outputBytes: number;
  /** Runs that were lost with their worker. */
  readonly suspicious: number;
}

/** From one worker to another. */
export interface TransferFigures {
  readonly from: string;
  readonly to: string;
  readonly nbytes: number;
  readonly seconds: number;
}

export interface DurationFigures {
  readonly prefix: string;
  readonly count: number;
  readonly sum: number;
  /** Tasks per bucket; one more than there are bounds. */
  readonly buckets: ArrayLike<number>;
}
