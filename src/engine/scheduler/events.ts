// What goes into the scheduler and what comes out: the engine's shell turns messages into events, and instructions
// into messages. Task ids are dense, workers are indices; a worker that replaces another gets a new index.

/** A worker is there and has nothing to do. */
export interface WorkerAdded {
  readonly type: 'worker-added';
  readonly worker: number;
}

/**
 * A worker is gone, with the results that only it held. `blame` says which task was running: its id; 'none' if the
 * worker was ended on purpose or while idle; 'unknown' blames every task that had been sent to it.
 */
export interface WorkerRemoved {
  readonly type: 'worker-removed';
  readonly worker: number;
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
}

export interface TaskErred {
  readonly type: 'task-erred';
  readonly worker: number;
  readonly id: number;
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
  readonly missing: readonly number[];
}

/** Time has passed with no news: a worker that has nothing to do may steal even what looked like very little work. */
export interface IdleCheck {
  readonly type: 'idle-check';
}

export type SchedulerEvent =
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
  /** Tasks whose results (with the caller) the worker lacks and the batch needs. */
  readonly inputs: Int32Array;
}

/** The results of these tasks are not needed any more: the caller drops them, and `workers` lists who holds copies. */
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

/** Ask a worker to send results that it alone holds. */
export interface Fetch {
  readonly type: 'fetch';
  readonly worker: number;
  readonly ids: Int32Array;
}

/** A task was running too often when its worker died. The run fails. */
export interface TaskKilled {
  readonly type: 'task-killed';
  readonly worker: number;
  readonly id: number;
  readonly attempts: number;
}

export type Instruction = Dispatch | Release | Steal | Fetch | TaskKilled;
