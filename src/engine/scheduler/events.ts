// Events go into the scheduler, and instructions come out. The engine's shell converts messages to events, and
// instructions to messages. Task ids are dense, and workers are indices. A replacement of a worker gets a new index.

import type { SchedulerGraph, SegmentPolicy } from './taskGraph.js';

/** A worker has started and has nothing to do. */
export interface WorkerAdded {
  readonly type: 'worker-added';
  readonly worker: number;
  /** Name of the worker in `SegmentPolicy.workers`. Default: its index. */
  readonly name?: string;
  readonly resources?: ReadonlyMap<string, number>;
}

/** A graph to run beside the present ones. */
export interface GraphAdded {
  readonly type: 'graph-added';
  readonly graph: SchedulerGraph;
  readonly policy?: SegmentPolicy;
  /**
   * Imported tasks: task of this graph → task of an earlier graph. The earlier result is kept until the import is
   * forgotten.
   */
  readonly imports?: ReadonlyMap<number, number>;
  /** For a data segment: the worker whose store holds each result, or CALLER. */
  readonly holders?: Int32Array;
  /** For a data segment: bytes of each result. */
  readonly nbytes?: Float64Array;
}

/**
 * A worker is gone, with the results that only this worker held. `blame` is the id of the task that was running. It
 * is 'none' if the worker was ended on purpose or while idle. 'unknown' blames every task that had been sent to the
 * worker. 'seceded' blames only tasks that have seceded. Except for 'none', the death always counts against the seceded
 * tasks, too, because the cause may be a task that they have submitted and would submit again.
 */
export interface WorkerRemoved {
  readonly type: 'worker-removed';
  readonly worker: number;
  /** Only the isolate is gone and was replaced: results in the worker's store are still there. Default false. */
  readonly restarted?: boolean;
  readonly blame: number | 'none' | 'seceded' | 'unknown';
}

/**
 * A worker finished the tasks `ids[from .. to)`, in this order. `kinds` (see protocol/resultKinds.ts) gives the place
 * of each result; null if the caller has all results. `seconds` are durations; null if not measured.
 */
export interface TasksFinished {
  readonly type: 'tasks-finished';
  readonly worker: number;
  readonly ids: Int32Array;
  readonly from: number;
  readonly to: number;
  readonly kinds: Uint8Array | null;
  /** Batches of these runs. Runs of earlier batches do not count. Default: those of the present batches. */
  readonly batches?: Int32Array;
  readonly seconds: Float64Array | null;
  /** Bytes of the results; null if unknown. */
  readonly nbytes?: Float64Array | null;
}

export interface TaskErred {
  readonly type: 'task-erred';
  readonly worker: number;
  readonly id: number;
  /** The batch of the run that failed. Default: the present one. */
  readonly batch?: number;
  /** The task is not tried again, even if its segment allows retries. Default false. */
  readonly final?: boolean;
}

/** A task has left its slot. Other tasks run there while the task waits, and the task may end in any order. */
export interface TaskSeceded {
  readonly type: 'task-seceded';
  readonly worker: number;
  readonly id: number;
  /** The batch of this run of the task. */
  readonly batch: number;
}

/**
 * The answer to a fetch: the caller now holds results that only their worker held. `missing` were dropped at the
 * worker before the fetch arrived, because the last task that used them had run. A task that needs them after a loss
 * elsewhere causes their recomputation.
 */
export interface ResultsFetched {
  readonly type: 'results-fetched';
  readonly worker: number;
  readonly ids: readonly number[];
  /** Those of `ids` that are in the worker's store and not with the caller. */
  readonly stored?: readonly { readonly id: number; readonly nbytes: number }[];
  readonly missing: readonly number[];
}

/** The isolate has dropped results that have another holder, except inputs of tasks that were sent to it earlier. */
export interface ResultsEvicted {
  readonly type: 'results-evicted';
  readonly worker: number;
  readonly ids: readonly number[];
}

/** A worker pauses because its memory is full, or resumes. */
export interface WorkerPaused {
  readonly type: 'worker-paused';
  readonly worker: number;
  readonly paused: boolean;
  /** Results that cannot be spilled fill the memory: the worker does not accept even single tasks. Default false. */
  readonly full?: boolean;
  /** The worker ends soon: it gets no task, unless tasks of its own that have seceded may wait for it. Default: as before. */
  readonly leaving?: boolean;
}

export type SchedulerEvent =
  | GraphAdded
  /** The given tasks and their dependents must not run. `results-unwanted` follows. */
  | { readonly type: 'tasks-cancelled'; readonly ids: readonly number[] }
  /** A client retries failed tasks; see `planRetry`. */
  | { readonly type: 'tasks-retried'; readonly ids: ReadonlySet<number> }
  /** No client needs these results any more. */
  | { readonly type: 'results-unwanted'; readonly ids: readonly number[] }
  /** A client needs these results again. Released ones are computed again. */
  | { readonly type: 'results-wanted'; readonly ids: readonly number[] }
  /**
   * A worker lacks results that it should have. Either another worker requested them from its store, or the worker could
   * not gather them for its tasks. In the second case `ids` are the ids of these tasks' inputs.
   */
  | { readonly type: 'results-missing'; readonly worker: number; readonly ids: readonly number[] }
  | ResultsEvicted
  | WorkerPaused
  /** These tasks wait for an event that will not happen, e.g. for workers that stay full. They fail. */
  | { readonly type: 'tasks-stuck'; readonly ids: readonly number[] }
  | WorkerAdded
  | WorkerRemoved
  | TasksFinished
  | TaskErred
  | TaskSeceded
  /** The answer to a steal: tasks that the worker had not started and has given back. Empty if it had started all of them. */
  | { readonly type: 'tasks-stolen'; readonly worker: number; readonly ids: readonly number[] }
  | ResultsFetched
  /** Time has passed without an event. An idle worker may now steal even very little work. */
  | { readonly type: 'idle-check' };

/** Sends these tasks to a worker, to run in this order. */
export interface Dispatch {
  readonly type: 'dispatch';
  readonly worker: number;
  /** Positive id, unique in the run. `OpenRunMessage.claims` has this id for each task that the batch offers. */
  readonly batch: number;
  readonly ids: Int32Array;
  /** 1 if another worker or the caller needs the result, so that it is sent with the completion. */
  readonly publish: Uint8Array;
  /** Earlier tasks whose results need not be sent any more, because this batch contains their dependents. */
  readonly keep: Int32Array;
  /** Tasks whose results the isolate lacks and the batch needs. The caller or a worker's store has them. */
  readonly inputs: Int32Array;
}

/**
 * The results of these tasks are not needed any more: the caller drops them. `workers` lists the holders of copies,
 * in the isolate or in the store.
 */
export interface Release {
  readonly type: 'release';
  readonly ids: Int32Array;
  readonly workers: readonly { readonly worker: number; readonly ids: Int32Array }[];
}

/** Takes those of these tasks back that the worker has not started, in this order (last first). */
export interface Steal {
  readonly type: 'steal';
  readonly worker: number;
  readonly ids: Int32Array;
  /** The worker without work for which they are taken. Absent if `worker` is paused. */
  readonly thief?: number;
}

/**
 * A task failed, or data was lost that cannot be computed again (`lost`). `ids` are this task, and then all its
 * dependents, which fail with it.
 */
export interface Erred {
  readonly type: 'erred';
  readonly ids: Int32Array;
  readonly lost: boolean;
  /** A client has cancelled the first of the tasks. */
  readonly cancelled?: boolean;
  /**
   * The task that caused the error: `ids[0]`, or the earlier failed task on which `ids[0]` depends or of which it is an
   * import.
   */
  readonly because: number;
}

export type Instruction =
  | Dispatch
  | Release
  | Steal
  /** Asks a worker to send results that only this worker holds. After a loss, a result may be requested twice. */
  | { readonly type: 'fetch'; readonly worker: number; readonly ids: Int32Array }
  /** These tasks need not run: their worker should not start them, and may be stopped. */
  | { readonly type: 'cancel'; readonly worker: number; readonly ids: Int32Array }
  | Erred
  /** A task during which too many workers have died. It ends a local run; in a cluster an `erred` follows. */
  | { readonly type: 'task-killed'; readonly worker: number; readonly id: number; readonly attempts: number };
