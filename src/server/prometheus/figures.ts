// The figures of a cluster at a scrape of Prometheus, which the families of this folder turn into samples.
import type { WorkerRow } from '../../protocol/viewMessages.js';
import type { WorkerLink } from '../../protocol/workerMessages.js';
import type { LiveTotals } from '../../trace/totals.js';
import type { StoreSum } from '../../trace/workerSums.js';

export interface ClusterFigures {
  readonly totals: LiveTotals;
  readonly clients: number;
  readonly clientsAdded: number;
  readonly clientsRemoved: number;
  /** Number of workers that would finish the current work in five seconds. */
  readonly desiredWorkers: number;
  /** Number of tasks by state (`waiting`, `processing`, `memory`, …), without forgotten tasks. */
  readonly tasks: ReadonlyMap<string, number>;
  readonly tasksForgotten: number;
  readonly workers: readonly WorkerFigures[];
  /** Number of times and seconds for which the scheduler handled each stimulus. */
  readonly stimuli: ReadonlyMap<string, { readonly count: number; readonly seconds: number }>;
  readonly thread: ThreadFigures;
}

interface ThreadFigures {
  /** Longest delay of a timer since the last scrape, seconds. */
  readonly eventLoopDelay: number;
  /** Longest time between two turns of the event loop since the last scrape, seconds. */
  readonly longestTick: number;
  readonly ticks: number;
  /** Seconds of garbage collection. */
  readonly gcSeconds: number;
}

export interface WorkerFigures extends WorkerRow, OpenTransfers {
  /** Number of tasks that run now. */
  readonly running: number;
  readonly results: number;
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
  readonly spill: Iterable<StoreSum>;
}

export type OpenTransfers = Omit<WorkerLink, 'latency'>;

/** Returns the figures of a cluster without workers, with the same number for each figure of its scheduler. */
export function sameFigures(value: number): Omit<ClusterFigures, 'totals'> {
  return {
    clients: value,
    clientsAdded: value,
    clientsRemoved: value,
    desiredWorkers: value,
    tasks: new Map(),
    tasksForgotten: value,
    workers: [],
    stimuli: new Map(),
    thread: { eventLoopDelay: value, longestTick: value, ticks: value, gcSeconds: value },
  };
}

/** Returns the same number for each figure of transfers. */
export function sameTransfers(value: number): OpenTransfers {
  return { incomingBytes: value, incomingCount: value, outgoingBytes: value, outgoingCount: value };
}
