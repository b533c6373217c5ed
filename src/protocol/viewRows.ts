// Rows of messages between a dashboard and its server: state by prefix, worker and running task. All times are seconds
// since the epoch on the scheduler's clock, all sizes bytes; numbers in JSON are finite.

import type { WorkerInfo } from './clusterObserver.js';

export interface ProgressRow {
  readonly prefix: string;
  /** Number of submitted tasks. */
  readonly total: number;
  /** Number of tasks that a worker has now. */
  readonly processing: number;
  /** Number of tasks with a result. */
  readonly finished: number;
  readonly erred: number;
  /** Number of tasks that were cancelled, or did not run because another one failed. The rest of `total` waits. */
  readonly cancelled: number;
  /** Seconds of computing. */
  readonly seconds: number;
  /** Numbers of tasks of the current graph, see `LiveTotals.graphStart`. */
  readonly current: Readonly<Record<'total' | 'finished' | 'erred' | 'cancelled', number>>;
}

export interface WorkerRow extends Omit<WorkerInfo, 'startTime'> {
  readonly status: 'running' | 'paused';
  /** Number of tasks that the worker has not finished. */
  readonly processing: number;
  /** Expected seconds of these tasks. */
  readonly occupancy: number;
  readonly process: number;
  readonly managed: number;
  readonly unmanaged: number;
  readonly spilled: number;
  readonly started: number;
}

/** A task that a worker runs now. */
export interface RunningRow {
  /** Id of the task in the table of tasks. */
  readonly id: number;
  readonly key: string;
  readonly prefix: string;
  readonly worker: number;
  /** Start of the task; if the engine does not report it, the time of the first observation. */
  readonly started: number;
}
