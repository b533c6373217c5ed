// What goes into the scheduler and what comes out: the engine's shell turns messages into events, and instructions
// into messages. Task ids are dense, workers are indices; a worker that replaces another gets a new index.

import type { SchedulerGraph, SegmentPolicy } from './taskGraph.js';

/** A worker is there and has nothing to do. */
export interface WorkerAdded {
  readonly type: 'worker-added';
  readonly worker: number;
  /** What `SegmentPolicy.workers` calls it. Default: its index. */
  readonly name?: string;
  readonly resources?: ReadonlyMap<string, number>;
}

/** A graph to run beside those that are there. */
export interface GraphAdded {
  readonly type: 'graph-added';
  readonly graph: SchedulerGraph;
  readonly policy?: SegmentPolicy;
  /** Task of the graph → the task of an earlier graph that it stands for, whose result is wanted until the import is forgotten. */
  readonly imports?: ReadonlyMap<number, number>;
  /** Of a data segment: by task, the worker whose store has it, or CALLER. */
  readonly holders?: Int32Array;
  /** Of a data segment: bytes by task. */
  readonly nbytes?: Float64Array;
}

/** These tasks are not to be run, and nothing that needs them. `results-unwanted` follows. */
export interface TasksCancelled {
  readonly type: 'tasks-cancelled';
  readonly ids: readonly number[];
}

/** Nobody outside asks for these results any more. */
export interface ResultsUnwanted {
  readonly type: 'results-unwanted';
  readonly ids: readonly number[];
}

/**
 * A worker is gone, with the results that only it held. `blame` says which task was running: its id; 'none' if the
 * worker was ended on purpose or while idle; 'unknown' blames every task that had been sent to it.
 */
export interface WorkerRemoved {
  readonly type: 'worker-removed';
  readonly worker: number;
  /** Only its isolate is gone, and a new one has taken its place: results in its store are still there. Default false. */
  readonly restarted?: boolean;
  readonly blame: number | 'none' | 'unknown';
}

/**
 * A worker finished tasks, `ids[from .. to)`, in this order. `kinds` (see protocol/results.ts) says of each where its
 * result is; null: all results are with the caller. `seconds` are durations; null: not measured.
 */
export interface TasksFinished {
  readonly type: 'tasks-finished';
  readonly worker: number;
  readonly ids: Int32Array;
  readonly from: number;
  readonly to: number;
  readonly kinds: Uint8Array | null;
  readonly seconds: Float64Array | null;
  /** Bytes of the results; null: not known. */
  readonly nbytes?: Float64Array | null;
}

export interface TaskErred {
  readonly type: 'task-erred';
  readonly worker: number;
  readonly id: number;
  /** It is not tried again, whatever its segment says. Default false. */
  readonly final?: boolean;
}

/** The answer to a steal: the tasks that the worker had not started and now will not start. Empty: it had started all. */
export interface TasksStolen {
  readonly type: 'tasks-stolen';
  readonly worker: number;
  readonly ids: readonly number[];
}

/**
 * The answer to a fetch: results that only their worker held are now with the caller too. `missing` were dropped there
 * before the fetch came, because the last task that was to use them ran; whoever needs them now, after a loss
 * elsewhere, has them computed again.
 */
export interface ResultsFetched {
  readonly type: 'results-fetched';
  readonly worker: number;
  readonly ids: readonly number[];
  /** Among `ids`, those that are in the worker's store and not with the caller. */
  readonly stored?: readonly { readonly id: number; readonly nbytes: number }[];
  readonly missing: readonly number[];
}

/**
 * Results that a worker should have turned out not to be there: in the store of a worker that was asked for them, or at
 * the worker that asked and now lacks them (there they have the ids that the task knows them by).
 */
export interface ResultsMissing {
  readonly type: 'results-missing';
  readonly worker: number;
  readonly ids: readonly number[];
}

/** The isolate has dropped results that others keep, except those that tasks need which were sent there before. */
export interface ResultsEvicted {
  readonly type: 'results-evicted';
  readonly worker: number;
  readonly ids: readonly number[];
}

/** A worker stops taking work because its memory is full, or goes on. */
export interface WorkerPaused {
  readonly type: 'worker-paused';
  readonly worker: number;
  readonly paused: boolean;
  /** Its results fill its memory and cannot be spilled: it does not even take one task at a time. Default false. */
  readonly full?: boolean;
}

/** These tasks wait for what will not come, e.g. for workers that are full and stay so: they fail. */
export interface TasksStuck {
  readonly type: 'tasks-stuck';
  readonly ids: readonly number[];
}

/** Time has passed with no news: a worker that has nothing to do may steal even what looked like very little work. */
export interface IdleCheck {
  readonly type: 'idle-check';
}

export type SchedulerEvent =
  | GraphAdded
  | TasksCancelled
  | ResultsUnwanted
  | ResultsMissing
  | ResultsEvicted
  | WorkerPaused
  | TasksStuck
  | WorkerAdded
  | WorkerRemoved
  | TasksFinished
  | TaskErred
  | TasksStolen
  | ResultsFetched
  | IdleCheck;

/** Send these tasks to a worker, to run in this order. */
export interface Dispatch {
  readonly type: 'dispatch';
  readonly worker: number;
  /** Positive, unique in the run; stands in the claim array for each of the tasks. */
  readonly batch: number;
  readonly ids: Int32Array;
  /** 1: the result is wanted outside the worker, so it is sent with the completion. */
  readonly publish: Uint8Array;
  /** Tasks sent before, whose results need not be sent after all: this batch has what needs them. */
  readonly keep: Int32Array;
  /** Tasks whose results (with the caller, or in some worker's store) the isolate lacks and the batch needs. */
  readonly inputs: Int32Array;
}

/**
 * The results of these tasks are not needed any more: the caller drops them, and `workers` lists who holds copies, in the
 * isolate or in the store.
 */
export interface Release {
  readonly type: 'release';
  readonly ids: Int32Array;
  readonly workers: readonly { readonly worker: number; readonly ids: Int32Array }[];
}

/** Take these tasks back from a worker, as many as it has not started, in this order (last first). */
export interface Steal {
  readonly type: 'steal';
  readonly worker: number;
  readonly ids: Int32Array;
}

/** Ask a worker to send results that it alone holds. May come twice for a result, after a loss. */
export interface Fetch {
  readonly type: 'fetch';
  readonly worker: number;
  readonly ids: Int32Array;
}

/** These tasks need not be run: their worker should not begin them, and may be made to stop. */
export interface Cancel {
  readonly type: 'cancel';
  readonly worker: number;
  readonly ids: Int32Array;
}

/** A task failed, or data was lost that cannot be made again (`lost`), and with it all that depends on it. `ids[0]` is the task. */
export interface Erred {
  readonly type: 'erred';
  readonly ids: Int32Array;
  readonly lost: boolean;
  /** Somebody has cancelled the first of them. */
  readonly cancelled?: boolean;
  /** Whose error it is: `ids[0]`, unless that depends on (or stands for) a task that had failed before: then that one. */
  readonly because: number;
}

/** A task was running too often when its worker died. A run fails by it; in a cluster an `erred` follows. */
export interface TaskKilled {
  readonly type: 'task-killed';
  readonly worker: number;
  readonly id: number;
  readonly attempts: number;
}

export type Instruction = Dispatch | Release | Steal | Fetch | Cancel | Erred | TaskKilled;
