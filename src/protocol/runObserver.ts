// Calls to observers of a local run: those of a cluster's observers, and calls that only a run in this process can
// make. Callbacks, progress bars, profilers and recorders implement RunObserver. Ids are dense: 0 ≤ id < size, in
// priority order.
import type { ClusterObserver, Computation, WorkerInfo } from './clusterObserver.js';
import type { Graph } from './graph.js';

/** Dask's scheduler state by name. These are live views: cheap to hold, and each property reads the present state. */
export interface RunState {
  /** Key → keys of its dependencies. Data keys are included, with no dependencies. */
  readonly dependencies: ReadonlyMap<string, ReadonlySet<string>>;
  /** Key → keys of its dependents. */
  readonly dependents: ReadonlyMap<string, ReadonlySet<string>>;
  /** Key of a waiting task → its unfinished dependencies. */
  readonly waiting: ReadonlyMap<string, ReadonlySet<string>>;
  /** Key → dependents that still have to run. A key whose set becomes empty is released, unless it was requested. */
  readonly waitingData: ReadonlyMap<string, ReadonlySet<string>>;
  /** Key → value, for the results and the data that the caller holds now. */
  readonly cache: ReadonlyMap<string, unknown>;
  /** Keys that could run now and have not started. */
  readonly ready: readonly string[] & { readonly size: number };
  readonly running: ReadonlySet<string>;
  readonly finished: ReadonlySet<string>;
  readonly released: ReadonlySet<string>;
}

export interface RunWorker extends WorkerInfo {
  /**
   * Figures of the worker's isolate in shared memory, see VITALS of isolateMessages; null if the worker has a
   * process of its own. Absent if the caller's own thread runs the tasks.
   */
  readonly vitals?: Float64Array | null;
}

/** State of a run at one moment. */
export interface RunStanding {
  /** Number of tasks by state of the scheduler, e.g. `waiting`. */
  readonly states: Readonly<Record<string, number>>;
  /** Index of a worker → number of tasks that it has not finished. */
  readonly processing: ReadonlyMap<number, number>;
  /** Index of a worker → its running task, if known. */
  readonly running: ReadonlyMap<number, number>;
}

/** Facts about a run, here or on a cluster. The same object is passed from `runStarted` to `runFinished`; its members are live. */
export interface WatchedRun {
  readonly graph: Graph;
  /** The tasks to run (data keys are not tasks). */
  readonly computation: Computation;
  /** Dependents of task i: `dependents[dependentOffsets[i] .. dependentOffsets[i + 1])`, ids. */
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  /** 1 for tasks whose results the caller requested. They are never released. */
  readonly requested: Uint8Array;
  /** Index → worker; grows when a worker is replaced. A worker has the same index in every run. */
  readonly workers: ReadonlyMap<number, WorkerInfo>;
  /** Number of tasks that have finished so far. */
  readonly finishedCount: number;
}

/** A run in this process. */
export interface RunInfo extends WatchedRun {
  readonly workers: ReadonlyMap<number, RunWorker>;
  readonly state: RunState;
  /** Computed on each access. Costs a microsecond per worker. */
  readonly standing: RunStanding;
}

/**
 * Observes one run. All calls happen on the caller's thread, never inside each other, in this order: `runStarted` and
 * `computationAdded`, `stateReady`, then the task calls, then `runFinished` and `computationForgotten`. The last two
 * are called exactly once if `runStarted` was called. An exception from any of them ends the run with that error. A
 * failed task is the last of its `tasksEnded`. After the run an observer may keep the arrays of RunInfo. It should
 * release RunInfo itself, because `state` holds results.
 */
export interface RunObserver extends ClusterObserver {
  /** Requests `taskStarted` and `taskFinished`, one call per task, with `run.state` exact at each call. */
  readonly perTask?: boolean;
  /** Requests every result in `taskFinished`. Without it, results that only other tasks need stay in their isolate. */
  readonly results?: boolean;
  runStarted?(run: RunInfo): void;
  stateReady?(run: RunInfo): void;
  taskStarted?(id: number, run: RunInfo): void;
  /** `startTime` and `stopTime` are in seconds since the epoch; `worker` is an index of `run.workers`. */
  taskFinished?(
    id: number,
    value: unknown,
    worker: number,
    startTime: number,
    stopTime: number,
    run: RunInfo,
  ): void;
  /** Called whenever the caller's thread gets control during the run, at least every 50 ms unless a callback blocks. */
  progress?(run: RunInfo): void;
  /** Called once at the end. `error` is undefined if the run succeeded. */
  runFinished?(run: RunInfo, error: unknown): void;
}

/** Watches a run without its state and its results: such an observer can watch a computation of a cluster, too. */
export interface RunWatcher extends ClusterObserver {
  runStarted?(run: WatchedRun): void;
  /** Called when tasks have ended, and at least every 50 ms unless the program blocks its thread. */
  progress?(run: WatchedRun): void;
  runFinished?(run: WatchedRun, error: unknown): void;
}
