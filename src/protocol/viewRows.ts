// The rows of messages between a dashboard and its server: how prefixes, workers and running tasks stand, and exact sums.
// All times are seconds since the epoch on the scheduler's clock, all sizes bytes; numbers in JSON are finite.

import type { WorkerInfo } from './clusterObserver.js';

export interface ProgressRow {
  readonly prefix: string;
  /** Tasks that were submitted. */
  readonly total: number;
  /** Tasks that a worker has now. */
  readonly processing: number;
  /** Tasks that gave a result. */
  readonly finished: number;
  readonly erred: number;
  /** Tasks that nobody wants any more. What is left of `total` waits. */
  readonly cancelled: number;
  /** Runs that were lost with their worker. */
  readonly lost: number;
  /** Of computing. */
  readonly seconds: number;
  /** Seconds of the shortest and of the longest run; null where none computed. */
  readonly shortest: number | null;
  readonly longest: number | null;
  /** Of results. */
  readonly nbytes: number;
}

export interface WorkerRow extends Omit<WorkerInfo, 'startTime'> {
  readonly status: 'running' | 'paused';
  /** Tasks that it has and has not finished. */
  readonly processing: number;
  /** Expected seconds of them. */
  readonly occupancy: number;
  readonly process: number;
  readonly managed: number;
  readonly unmanaged: number;
  readonly spilled: number;
  readonly started: number;
}

/** A task that a worker runs now. */
export interface RunningRow {
  /** As in the table of tasks. */
  readonly id: number;
  readonly key: string;
  readonly prefix: string;
  readonly worker: number;
  /** When it began or, where nobody tells, when it was first seen to run. */
  readonly started: number;
}

export interface ActionSum {
  readonly action: string;
  readonly count: number;
  readonly seconds: number;
  readonly nbytes: number;
}

/** Rows of `workers`, -1 for a client. */
export interface PairSum {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly nbytes: number;
  readonly compressed: number;
  readonly seconds: number;
}

export interface MetricSum {
  readonly context: string;
  readonly span: string;
  readonly prefix: string;
  readonly activity: string;
  readonly unit: string;
  readonly value: number;
}

/** Runs of tasks with one prefix. */
export interface PrefixSum {
  readonly prefix: string;
  readonly count: number;
  readonly erred: number;
  /** Of computing. */
  readonly seconds: number;
  /** Of results. */
  readonly nbytes: number;
  /** Seconds; null where no run of it computed. */
  readonly shortest: number | null;
  readonly longest: number | null;
  /** Bucket of durations → runs, of buckets that have any; of a run that goes on none are told. */
  readonly durations: readonly (readonly [bucket: number, runs: number])[];
}
