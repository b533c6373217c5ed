// What an engine tells whoever watches a run. The engine does not know who watches: callbacks, progress bars,
// profilers and the trace recorder all implement RunObserver. Ids are dense: 0 ≤ id < run.size, in priority order.
import type { Graph } from './graph.js';

/** Several finished tasks, in the order in which they finished on one worker. The arrays are reused: copy what you keep. */
export interface CompletedTasks {
  /** Index into `run.workers`. */
  readonly worker: number;
  /** How many entries of the arrays count. */
  readonly count: number;
  readonly ids: Int32Array;
  /** Seconds since the epoch: when the task was sent to its worker, and when the worker took it in. */
  readonly dispatchTimes: Float64Array;
  readonly receiveTimes: Float64Array;
  /** Seconds since the epoch, taken in the isolate that ran the task. */
  readonly startTimes: Float64Array;
  readonly stopTimes: Float64Array;
}

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

/** Where to look for what a worker uses. */
export interface WorkerPlace {
  readonly pid: number;
  /** What its isolate says of itself in shared memory, see VITALS_… of isolateMessages; null: it has a process of its own. */
  readonly vitals: Float64Array | null;
}

/** What is known of a run. The same object from `runStarted` to `runFinished`; the members are live. */
export interface RunInfo {
  readonly graph: Graph;
  /** Number of tasks to run (data keys are not tasks). */
  readonly size: number;
  /** Task id → key. */
  readonly keys: readonly string[];
  /** Task id → the task as it stands in the graph, e.g. `[add, 1, 2]`. */
  task(id: number): unknown;
  /** Name of the task's function. */
  functionName(id: number): string;
  /** Dependencies of task i: `dependencies[dependencyOffsets[i] .. dependencyOffsets[i + 1])`, ids. */
  readonly dependencyOffsets: Int32Array;
  readonly dependencies: Int32Array;
  /** Dependents of task i, the same way. */
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  /** 1 for the tasks whose results the caller asked for: they are never released. */
  readonly requested: Uint8Array;
  /** Names of the workers, e.g. `threads-0`; grows when a worker is replaced. */
  readonly workers: readonly string[];
  /** Beside `workers`. Empty where the caller's own thread runs the tasks. */
  readonly places: readonly WorkerPlace[];
  /** How many tasks have finished so far. */
  readonly finishedCount: number;
  readonly state: RunState;
}

/**
 * Watches one run. All calls happen on the caller's thread, never inside each other, in this order: `runStarted`,
 * `stateReady`, then the task calls, then `runFinished` exactly once if `runStarted` was called. A throw from any of
 * them ends the run with that error. An observer that has `completed` is told in every run, also when others (or itself)
 * want one call per task. After the run it may keep the arrays of RunInfo, and should let go of RunInfo itself: `state`
 * holds results.
 */
export interface RunObserver {
  /** Wants `taskStarted` and `taskFinished`, one call per task, with `run.state` exact at each call. */
  readonly perTask?: boolean;
  /** Wants every result in `taskFinished`; without it results that only other tasks need stay in their isolate. */
  readonly results?: boolean;
  runStarted?(run: RunInfo): void;
  stateReady?(run: RunInfo): void;
  taskStarted?(id: number, run: RunInfo): void;
  /** `startTime` and `stopTime` in seconds since the epoch; `worker` indexes `run.workers`. */
  taskFinished?(
    id: number,
    value: unknown,
    worker: number,
    startTime: number,
    stopTime: number,
    run: RunInfo,
  ): void;
  /** The cheap form of taskFinished: columns. */
  completed?(tasks: CompletedTasks, run: RunInfo): void;
  /** Called whenever the caller's thread gets control during the run, at least every 50 ms unless a callback blocks. */
  progress?(run: RunInfo): void;
  /** `error` is undefined if the run succeeded. */
  runFinished?(run: RunInfo, error: unknown): void;
}
