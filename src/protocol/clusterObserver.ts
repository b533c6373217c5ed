// What a cluster tells whoever watches it: the recorder of the live trace above all, and plugins. The engine does not
// know who watches. All times are seconds since the epoch on the scheduler's clock, all sizes bytes. Tasks are named by
// computation and local id, 0 ≤ id < size; `firstId + id` is unique as long as the cluster lives, and never used twice.

import type { ProfileCycle } from './profileCycle.js';
import type { KindOf } from './taskKinds.js';
import type { ACTIONS, Reported } from './traceSchema.js';

/** Numbers of TASK_STATES. */
export const TASK_MEMORY = 0;
export const TASK_ERRED = 1;
/** Nobody wanted the result any more before it was there. */
export const TASK_CANCELLED = 2;
/** The worker died while it had the task; the task runs again elsewhere, or has killed too many workers. */
export const TASK_LOST = 3;

export { ACTIONS, TASK_STATES } from './traceSchema.js';
export type Action = (typeof ACTIONS)[number];

/** The tasks that one compute, submit or map burst added. Nothing in it changes afterwards. */
export interface Computation {
  /** 1, 2, 3, … */
  readonly number: number;
  readonly firstId: number;
  readonly size: number;
  /** By local id. */
  readonly keys: readonly string[];
  /** Local id → index into `prefixes`. */
  readonly prefixOf: Int32Array;
  readonly prefixes: readonly string[];
  /** Local id → index into `functions`, the names of the functions; -1 for an alias. */
  readonly functionOf: Int32Array;
  readonly functions: readonly string[];
  /** Local id → index into `spans`; null: all tasks are in `spans[0]`. */
  readonly spanOf: Int32Array | null;
  /** E.g. `["Alice", "load"]`; outside any span `["default"]`. */
  readonly spans: readonly (readonly string[])[];
  /** size + 1 offsets into `dependencies`. */
  readonly dependencyOffsets: Int32Array;
  /** Local ids; from `size` on, `externals[value - size]`. */
  readonly dependencies: Int32Array;
  /** `firstId + id` of tasks of earlier computations. */
  readonly externals: Float64Array;
  /** Local ids that stand for results that are there already: of earlier computations, and scattered data. They never run. */
  readonly given?: Int32Array;
  readonly submitted: number;
  /** The client that asked for it. */
  readonly client: string;
  /** The lines of the user's program that asked for it; empty: not known. */
  readonly code: string;
}

/** Runs of tasks that have ended, all of one computation and on one worker. The arrays are reused: copy what you keep. */
export interface TaskRuns {
  readonly computation: Computation;
  /** Index of the worker; see WorkerInfo. */
  readonly worker: number;
  /** How many entries of the arrays count. */
  readonly count: number;
  /** Threads of the worker, 0, 1, 2, …; absent: it has one. */
  readonly threads?: Int32Array;
  /** Local ids. */
  readonly ids: Int32Array;
  /** See TASK_STATES. */
  readonly states: Uint8Array;
  /** Index into `typeNames`. */
  readonly types: Uint16Array;
  /** Names of result types, e.g. `Float64Array`; grows while the cluster lives. */
  readonly typeNames: readonly string[];
  /** Of the result; 0 where there is none. */
  readonly nbytes: Float64Array;
  /** 1 for the first run of a task. */
  readonly attempts: Uint8Array;
  /** submitted ≤ ready ≤ dispatched ≤ received ≤ started ≤ stopped ≤ acknowledged; NaN where a lost task did not get so far. */
  readonly ready: Float64Array;
  readonly dispatched: Float64Array;
  readonly received: Float64Array;
  readonly started: Float64Array;
  readonly stopped: Float64Array;
  /** Seconds between `started` and `stopped` without a core, though the thread was ready to run; NaN, or absent: not known. */
  readonly coreWaits?: Float64Array;
  readonly acknowledged: number;
}

/** The column of attempts has one byte. */
const MAX_RUNS = 254;

/** The number of a run that ends, 1 for the first of its task; counts it. A result that was lost is made by another run. */
export function nextAttempt(runs: Uint8Array, id: number): number {
  const attempt = runs[id]! + 1;
  runs[id] = Math.min(attempt, MAX_RUNS);
  return attempt;
}

export interface WorkerInfo {
  /** 0, 1, 2, …; a worker that replaces another has a new index. */
  readonly index: number;
  /** E.g. `threads-0`. */
  readonly name: string;
  /** E.g. `thread://4711/threads-0`, `unix:///tmp/…`. */
  readonly address: string;
  readonly host: string;
  readonly pid: number;
  readonly threads: number;
  /** Bytes; 0: no limit. */
  readonly memoryLimit: number;
  readonly startTime: number;
}

/** One interval of work that is not a task's own code, which TaskRuns has. */
export type WorkInterval = Reported<'intervals'>;
/** One movement of data, from one side: both workers report a movement between them. */
export type Transfer = Reported<'transfers'>;
export type MemorySample = Reported<'memory'>;
/** A change of a fine performance metric since the last heartbeat. */
export type MetricSample = Reported<'metrics'>;
export type ClusterEvent = Reported<'events'>;

/** NaN: not known. */
export interface ResourceSample {
  /** Index of the worker, or -1 for the host: then of the scheduler's and all workers' processes together. */
  readonly worker: number;
  readonly time: number;
  /** Percent of one core. */
  readonly cpu: number;
  /** Of the process; workers that are threads share it. */
  readonly rss: number;
  /** Of the isolate, the scheduler's for the host. */
  readonly heap: number;
  readonly external: number;
  /** Seconds that the isolate's event loop is late. */
  readonly eventLoopDelay: number;
  /** Other figures by name, e.g. `host_net_io.read_bps`, `num_fds`, `gpu_utilization`; see docs/metrics.md. */
  readonly figures?: ReadonlyMap<string, number>;
}

/** All calls happen on the scheduler's thread, never inside each other. A throw is reported as an event and goes no further. */
export interface ClusterObserver {
  computationAdded?(computation: Computation): void;
  /** All its results have been released: nothing more will be told of it. */
  computationForgotten?(computation: Computation): void;
  tasksEnded?(runs: TaskRuns): void;
  workerAdded?(worker: WorkerInfo): void;
  workerRemoved?(worker: WorkerInfo, time: number, reason: string): void;
  interval?(interval: WorkInterval): void;
  transfer?(transfer: Transfer): void;
  memory?(sample: MemorySample): void;
  resources?(sample: ResourceSample): void;
  metric?(sample: MetricSample): void;
  /** Samples of a worker's thread, or of the scheduler's: then the worker is -1. Tasks are `firstId + id`. */
  profile?(worker: number, cycle: ProfileCycle, kindOf: KindOf): void;
  event?(event: ClusterEvent): void;
}
