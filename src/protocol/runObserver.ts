// What observers of a local run are told: all that observers of a cluster are, and what only a run in this process can say.
// Callbacks, progress bars, profilers and recorders implement RunObserver. Ids are dense: 0 ≤ id < size, in priority order.
import type { ClusterObserver, Computation, WorkerInfo } from './clusterObserver.js';
import type { Graph } from './graph.js';

/** Dask's scheduler state by name. Live views: cheap to hold, each property reads the scheduler as it is now. */
export interface RunState {
  /** Key → keys that it needs. Data keys are included, with no dependencies. */
  readonly dependencies: ReadonlyMap<string, ReadonlySet<string>>;
  /** Key → keys that need it. */
  readonly dependents: ReadonlyMap<string, ReadonlySet<string>>;
  /** Key of a task that waits → its dependencies that are not finished. */
  readonly waiting: ReadonlyMap<string, ReadonlySet<string>>;
  /** Key → dependents that still have to run. A key whose set gets empty is released, unless it was requested. */
  readonly waitingData: ReadonlyMap<string, ReadonlySet<string>>;
  /** Key → value, for the results and the data that the caller holds at this moment. */
  readonly cache: ReadonlyMap<string, unknown>;
  /** Keys that could run now and have not started. */
  readonly ready: readonly string[] & { readonly size: number };
  readonly running: ReadonlySet<string>;
  readonly finished: ReadonlySet<string>;
  readonly released: ReadonlySet<string>;
}

export interface RunWorker extends WorkerInfo {
  /**
   * What the isolate of the worker writes of itself to shared memory, see VITALS_… of isolateMessages; null: the worker has a
   * process of its own. Absent where the caller's own thread runs the tasks.
   */
  readonly vitals?: Float64Array | null;
}

/** Where a run stands at one moment. */
export interface RunStanding {
  /** State of the scheduler, e.g. `waiting` → tasks. */
  readonly states: Readonly<Record<string, number>>;
  /** Index of a worker → tasks that it has and has not finished. */
  readonly processing: ReadonlyMap<number, number>;
  /** Index of a worker → the task that it runs, as far as known. */
  readonly running: ReadonlyMap<number, number>;
}

/** What is known of a run. The same object from `runStarted` to `runFinished`; the members are live. */
export interface RunInfo {
  readonly graph: Graph;
  /** The tasks to run (data keys are not tasks). */
  readonly computation: Computation;
  /** Dependents of task i: `dependents[dependentOffsets[i] .. dependentOffsets[i + 1])`, ids. */
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  /** 1 for the tasks whose results the caller asked for: they are never released. */
  readonly requested: Uint8Array;
  /** Index → worker; grows when a worker is replaced. A worker has the same index in every run. */
  readonly workers: ReadonlyMap<number, RunWorker>;
  /** How many tasks have finished so far. */
  readonly finishedCount: number;
  readonly state: RunState;
  /** Made when it is read. Costs a microsecond per worker. */
  readonly standing: RunStanding;
}

/**
 * Watches one run. All calls happen on the caller's thread, never inside each other, in this order: `runStarted` and
 * `computationAdded`, `stateReady`, then the task calls, then `runFinished` and `computationForgotten` exactly once if
 * `runStarted` was called. A throw from any of them ends the run with that error. A task that failed is the last
 * of its `tasksEnded`. After the run an observer may keep the arrays of RunInfo. It should release RunInfo itself, because
 * `state` holds results.
 */
export interface RunObserver extends ClusterObserver {
  /** Wants `taskStarted` and `taskFinished`, one call per task, with `run.state` exact at each call. */
  readonly perTask?: boolean;
  /** Wants every result in `taskFinished`; without it results that only other tasks need stay in their isolate. */
  readonly results?: boolean;
  runStarted?(run: RunInfo): void;
  stateReady?(run: RunInfo): void;
  taskStarted?(id: number, run: RunInfo): void;
  /** `startTime` and `stopTime` in seconds since the epoch; `worker` is an index of `run.workers`. */
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
  /** `error` is undefined if the run succeeded. */
  runFinished?(run: RunInfo, error: unknown): void;
}
