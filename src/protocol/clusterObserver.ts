// Calls from a cluster to its observers: the recorder of the live trace, and plugins. The engine does not know its
// observers. All times are seconds since the epoch on the scheduler's clock, all sizes bytes. A task is identified by
// computation and local id, 0 ≤ id < size. `firstId + id` is unique in the life of the cluster, and never reused.

import { countsOf } from '../base/lookUps.js';
import { CANCELLED, DROPPED_CONTEXT, type KindOf, SKIPPED } from './metrics.js';
import type { ACTIONS } from './traceNames.js';
import type { Reported } from './traceSchema.js';

/** Numbers of TASK_STATES. */
export const TASK_MEMORY = 0;
export const TASK_ERRED = 1;
/** The result was not needed any more before the task finished. */
export const TASK_CANCELLED = 2;
/** The worker died while it had the task. The task runs again elsewhere, or fails because it killed too many workers. */
export const TASK_LOST = 3;
/** A task on which the task depends has failed. A state of tasks, not of runs. */
export const TASK_SKIPPED = 4;

/** Name of the worker of runs on the thread of the program (scheduler `sync`). */
export const INLINE_WORKER = 'main';

export { ACTIONS, TASK_STATES } from './traceNames.js';
export type Action = (typeof ACTIONS)[number];

/** The tasks of one compute, submit or burst of map calls. Nothing in it changes afterwards. */
export interface Computation {
  /** Number of the computation: 1, 2, 3, … */
  readonly number: number;
  readonly firstId: number;
  readonly size: number;
  /** Keys by local id. */
  readonly keys: readonly string[];
  /** Local id → index into `prefixes`. */
  readonly prefixOf: Int32Array;
  readonly prefixes: readonly string[];
  /** Local id → index into `functions`, the names of the functions; -1 for an alias. */
  readonly functionOf: Int32Array;
  readonly functions: readonly string[];
  /** Local id → index into `spans`; null: all tasks are in `spans[0]`. */
  readonly spanOf: Int32Array | null;
  /** Tags of each span, e.g. `["Alice", "load"]`; outside any span `["default"]`. */
  readonly spans: readonly (readonly string[])[];
  /** size + 1 offsets into `dependencies`. */
  readonly dependencyOffsets: Int32Array;
  /** Local ids of dependencies. A value from `size` on stands for `externals[value - size]`. */
  readonly dependencies: Int32Array;
  /** `firstId + id` of tasks in earlier computations. */
  readonly externals: Float64Array;
  /** Local ids of results that exist already: from earlier computations, or scattered data. These tasks never run. */
  readonly given?: Int32Array;
  readonly submitted: number;
  /** Time at which the program's call began, before its graph was compiled. Absent: the same as `submitted`. */
  readonly called?: number;
  /** End of the program's own time in a burst of calls, from which Longpole prepares the tasks. Absent if unknown. */
  readonly prepared?: number;
  /** The client that submitted the computation. */
  readonly client: string;
  /** The lines of the user's program that submitted it; empty if unknown. */
  readonly code: string;
}

/** Returns the prefix of a task by its local id. */
export function prefixOf(
  { prefixes, prefixOf }: Pick<Computation, 'prefixes' | 'prefixOf'>,
  id: number,
): string {
  return prefixes[prefixOf[id]!] ?? '';
}

/**
 * Runs of tasks that have ended, all of one computation and on one worker. The object and its arrays are reused: copy
 * data that you keep.
 */
export interface TaskRuns {
  readonly computation: Computation;
  /** Index of the worker; see WorkerInfo. */
  readonly worker: number;
  /** Number of valid entries in the arrays. */
  readonly count: number;
  /** Threads of the worker, 0, 1, 2, …; absent if the worker has one. */
  readonly threads?: Int32Array;
  /** Local ids. */
  readonly ids: Int32Array;
  /** See TASK_STATES. */
  readonly states: Uint8Array;
  /** Index into `typeNames`. */
  readonly types: Uint16Array;
  /** Names of result types, e.g. `Float64Array`; grows while the cluster lives. */
  readonly typeNames: readonly string[];
  /** Bytes of each result; 0 for none. */
  readonly nbytes: Float64Array;
  /** 1 for the first run of a task. */
  readonly attempts: Uint8Array;
  /**
   * Times of the run: submitted ≤ ready ≤ dispatched ≤ received ≤ started ≤ stopped ≤ acknowledged. NaN for times that
   * a lost run did not reach.
   */
  readonly ready: Float64Array;
  readonly dispatched: Float64Array;
  readonly received: Float64Array;
  readonly started: Float64Array;
  readonly stopped: Float64Array;
  /**
   * Seconds between `started` and `stopped` in which the thread was ready to run but had no core. NaN or absent if
   * unknown.
   */
  readonly coreWaits?: Float64Array;
  /**
   * Times from `started` to `stopped` at which seceded tasks left their slots, from which they waited for no result
   * any more, and seconds in which they did not use their threads; NaN for other tasks. Absent if no task of these runs has seceded.
   */
  readonly seceded?: Float64Array;
  readonly resumed?: Float64Array;
  readonly waited?: Float64Array;
  /** Number of dimensions of each result; 0 for a result without a shape. Absent: shapes are unknown. */
  readonly dimensions?: Uint8Array;
  /** Lengths of the dimensions, MAX_DIMENSIONS per run, of which `dimensions` are valid. */
  readonly shapes?: Float64Array;
  readonly acknowledged: number;
}

/** Number of runs of a task up to which runs are counted, because the column `attempt` has one byte. */
const MAX_RUNS = 254;

/** Counts a run that ends and returns its number, 1 for the first of its task. A lost result is computed by another run. */
export function nextAttempt(runs: Uint8Array, id: number): number {
  const attempt = runs[id]! + 1;
  runs[id] = Math.min(attempt, MAX_RUNS);
  return attempt;
}

/** Why a task has no result: it was cancelled, or depends on a task that failed. */
export type DropReason = typeof TASK_CANCELLED | typeof TASK_SKIPPED;

/** Why a task has no result and will not run. */
export type EndReason = DropReason | typeof TASK_ERRED;

/** One action for a task. Times are seconds since the epoch on the scheduler's clock. */
export interface StartStop {
  readonly action: Action;
  readonly start: number;
  readonly stop: number;
}

export interface WorkerInfo {
  /** Index of the worker: 0, 1, 2, … A replacement has a new index. */
  readonly index: number;
  /** Name of the worker, e.g. `threads-0`. */
  readonly name: string;
  /** Address of the worker, e.g. `thread://4711/threads-0`, `unix:///tmp/…`. */
  readonly address: string;
  readonly host: string;
  readonly pid: number;
  readonly threads: number;
  /** Memory limit in bytes; 0 for no limit. */
  readonly memoryLimit: number;
  readonly startTime: number;
}

/** An interval of work other than a task's own code, which TaskRuns has. */
export type WorkInterval = Reported<'intervals'>;
/** A transfer of data, seen from one side. Both workers report a transfer between them. */
export type Transfer = Reported<'transfers'>;
export type MemorySample = Reported<'memory'>;
/** A change of a fine performance metric since the last heartbeat. */
export type MetricSample = Reported<'metrics'>;
export type ClusterEvent = Reported<'events'>;

/** A sample of resource figures; NaN for unknown ones. */
export interface ResourceSample {
  /** Index of the worker. -1 for the host, which is the scheduler's process together with all workers' processes. */
  readonly worker: number;
  readonly time: number;
  /** CPU of the worker in percent of one core. */
  readonly cpu: number;
  /** Resident bytes of the process; workers that are threads share it. */
  readonly rss: number;
  /** Heap of the isolate in bytes; for the host that of the scheduler. */
  readonly heap: number;
  readonly external: number;
  /** Seconds that the isolate's event loop is late. */
  readonly eventLoopDelay: number;
  /** Other figures by name, e.g. `host_net_io.read_bps`, `num_fds`, `gpu_utilization`; see docs/resources.md. */
  readonly figures?: ReadonlyMap<string, number>;
}

/**
 * Observer of a cluster. All calls happen on the scheduler's thread, never inside each other. An exception becomes an
 * event.
 */
export interface ClusterObserver {
  computationAdded?(computation: Computation): void;
  /** All results of the computation have been released. No further call mentions it. */
  computationForgotten?(computation: Computation): void;
  tasksEnded?(runs: TaskRuns): void;
  /**
   * Tasks will have no result and not run any more. They had no run, their run was cancelled, or all of their runs were lost.
   *
   * @param ids local ids
   * @param why TASK_ERRED: the task failed; ignored if a run has reported that already
   */
  tasksDropped?(computation: Computation, ids: readonly number[], why: EndReason): void;
  workerAdded?(worker: WorkerInfo): void;
  workerRemoved?(worker: WorkerInfo, time: number, reason: string): void;
  interval?(interval: WorkInterval): void;
  transfer?(transfer: Transfer): void;
  memory?(sample: MemorySample): void;
  resources?(sample: ResourceSample): void;
  metric?(sample: MetricSample): void;
  /**
   * Receives samples of a worker's thread, or of the scheduler's thread if `worker` is -1. A task in the samples is the
   * `firstId` of its computation plus its id.
   */
  profile?(worker: number, cycle: ProfileCycle, kindOf: KindOf): void;
  event?(event: ClusterEvent): void;
}

/** `stacks` of a sample in which the thread had nothing to do. */
export const STACK_IDLE = -1;
/** `stacks` of a sample in which the thread ran Longpole's or Node's own code outside any task. */
export const STACK_RUNTIME = -2;

/** Settings of the statistical profiler, in seconds. */
export interface ProfileSettings {
  /** Time between two samples, at least 0.0001. */
  readonly interval: number;
  /** Time after which samples are passed on, at least 0.01. */
  readonly cycleInterval: number;
}

export interface ProfileCycle {
  /** Name of the thread, e.g. `threads-0`; the scheduler's own is `scheduler`. */
  readonly thread: string;
  /** Start and stop in seconds since the epoch; the samples lie between them. */
  readonly start: number;
  readonly stop: number;
  /** Requested seconds between two samples. */
  readonly interval: number;
  /** Stack node → the node of the caller, which has a lower number; -1 for the outermost frame. */
  readonly parents: Int32Array;
  /** Stack node → name, file and first line of its function. */
  readonly names: readonly string[];
  /** Path, or a URL that is no file; empty for code of the engine, e.g. `stringify`. */
  readonly files: readonly string[];
  /** Line from 1; 0 if unknown. */
  readonly lines: Int32Array;
  /** Sample → seconds since the epoch, ascending. */
  readonly times: Float64Array;
  /** Sample → stack node, STACK_IDLE or STACK_RUNTIME. */
  readonly stacks: Int32Array;
  /**
   * Sample → the executed line, from 1; 0 if unknown. The number of samples per line is exact within the cycle. Their
   * assignment to the samples of one stack is not, because V8 counts lines without an order.
   */
  readonly sampleLines: Int32Array;
  /** Sample → the number of the running task, -1 for none. */
  readonly tasks: Float64Array;
}

/** Runs of tasks on a thread, sorted by start. An interval without an end stops at Infinity. */
export interface TaskIntervals {
  readonly starts: ArrayLike<number>;
  readonly stops: ArrayLike<number>;
  readonly tasks: ArrayLike<number>;
}

/**
 * Returns a row per prefix.
 *
 * @param prefixes prefix of each task
 * @param each 1; -1 for tasks that run after all
 */
export function droppedSamples(
  prefixes: readonly string[],
  why: DropReason,
  time: number,
  each = 1,
): MetricSample[] {
  const activity = why === TASK_SKIPPED ? SKIPPED : CANCELLED;
  const same = { time, worker: -1, context: DROPPED_CONTEXT, span: '', activity, unit: 'count' };
  return Array.from(countsOf(prefixes), ([prefix, number]) => ({ ...same, prefix, value: each * number }));
}
