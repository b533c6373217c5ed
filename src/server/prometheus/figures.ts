// The figures of a cluster at a scrape of Prometheus, which the families of this folder turn into samples.
import type { MetricKey } from '../../protocol/metrics.js';
import type { WorkerLink } from '../../protocol/workerMessages.js';

/** Figures of a cluster. Sums count from the start of the cluster or of its dashboard. */
export interface ClusterFigures {
  readonly clients: number;
  readonly clientsAdded: number;
  readonly clientsRemoved: number;
  /** Number of workers that would finish the current work in five seconds. */
  readonly desiredWorkers: number;
  readonly workersAdded: number;
  readonly workersRemoved: number;
  /** Number of tasks by state (`waiting`, `processing`, `memory`, …), without forgotten tasks. */
  readonly tasks: ReadonlyMap<string, number>;
  readonly tasksForgotten: number;
  readonly workers: readonly WorkerFigures[];
  readonly prefixes: Iterable<PrefixFigures>;
  /** Scheduler.cumulativeWorkerMetrics. */
  readonly metrics: Iterable<readonly [MetricKey, number]>;
  /** Number of times and seconds for which the scheduler handled each stimulus. */
  readonly stimuli: ReadonlyMap<string, { readonly count: number; readonly seconds: number }>;
  readonly thread: ThreadFigures;
  readonly transfers: readonly TransferFigures[];
  readonly durations: Iterable<DurationFigures>;
  /** Upper bounds of the histograms' buckets in seconds, ascending. */
  readonly durationBounds: readonly number[];
}

/** Figures of the scheduler's thread. */
export interface ThreadFigures {
  /** Longest delay of a timer since the last scrape, seconds. */
  readonly eventLoopDelay: number;
  /** Longest time between two turns of the event loop since the last scrape, seconds. */
  readonly longestTick: number;
  readonly ticks: number;
  /** Seconds of garbage collection. */
  readonly gcSeconds: number;
}

export interface WorkerFigures extends OpenTransfers {
  readonly name: string;
  /** State as in Dask: `idle`, `partially_saturated`, `saturated`, `paused`. */
  readonly state: string;
  readonly threads: number;
  /** Bytes. */
  readonly managed: number;
  readonly unmanaged: number;
  readonly spilled: number;
  /** Number of tasks by state (`executing`, `ready`, `memory`, `disk`, …). */
  readonly tasks: ReadonlyMap<string, number>;
  /** Transfers in progress; NaN if unknown. */
  readonly open: OpenTransfers;
  /**
   * Seconds of a round trip to the worker; NaN if the worker is in the scheduler's process, or before the first
   * message.
   */
  readonly latency: number;
  /** Seconds of garbage collection; NaN if unknown. */
  readonly gcSeconds: number;
  /** Delay of the event loop of the worker's thread, seconds; NaN if unknown. */
  readonly eventLoopDelay: number;
  /** Sums of the work of the worker's store, by activity and unit. */
  readonly spill: Iterable<readonly [activity: string, unit: string, value: number]>;
}

export type OpenTransfers = Omit<WorkerLink, 'latency'>;

export interface PrefixFigures {
  readonly prefix: string;
  /** Number of tasks that have reached each final state. */
  readonly states: ReadonlyMap<string, number>;
  readonly computeSeconds: number;
  /** Seconds of transfers of results between workers. */
  readonly transferSeconds: number;
  readonly outputBytes: number;
  /** Number of task runs that were lost with their worker. */
  readonly suspicious: number;
}

/** Transfers from one worker to another. */
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
  /** Number of tasks per bucket. There is one bucket more than there are bounds. */
  readonly buckets: ArrayLike<number>;
}
