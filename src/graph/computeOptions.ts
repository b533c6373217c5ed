// Options for running a graph. This folder only passes them on.

import type { SchedulerSetting } from '../base/settings.js';
import type { ClusterTaskOptions } from '../protocol/clientQuestions.js';
import type { Graph, Keys } from '../protocol/graph.js';

/** The members of an AbortSignal that Longpole uses. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Where tasks run: on worker threads, in child processes, on the caller's own thread, or on a cluster. The cluster is
 * that of the most recently connected client, else a local one with default settings, which ends with the program.
 */
export type SchedulerName = SchedulerSetting;

/** Options of local schedulers. `Callbacks` is the type of the option `callbacks`; see `longpole/local`. */
export interface LocalOptions<Callbacks = unknown> {
  /** Cancels the computation, including running tasks. */
  readonly signal?: AbortSignalLike | undefined;
  /** Number of workers. Default: the setting `workers`, else one per core. Minimum 1. */
  readonly numWorkers?: number | undefined;
  /**
   * Number of asynchronous tasks that a worker runs at a time: while they await, other tasks run. Default 1. No effect in
   * `getSync`.
   */
  readonly concurrentTasks?: number | undefined;
  /**
   * Priority of the tasks that were not annotated with another one. Tasks with a higher priority run first, also before
   * tasks of other computations. Default 0.
   */
  readonly priority?: number | undefined;
  /** Callbacks for this computation, in addition to the registered ones. */
  readonly callbacks?: Callbacks | undefined;
  /** Worker deaths during one task after which the computation fails. Default 3, minimum 1. */
  readonly allowedFailures?: number | undefined;
}

/** Declares `get` as a method, so that the function may have the options of any scheduler. */
interface Scheduler {
  get(graph: Graph, keys: Keys, options?: object): unknown;
}

/** Options of `compute`: of a cluster, or of local schedulers. */
export interface ComputeOptions<Callbacks = unknown> extends LocalOptions<Callbacks>, ClusterTaskOptions {
  /**
   * Default: the most recently connected client. Without one: a cluster if an option is given that only clusters take, else the
   * setting `scheduler`, else `'threads'`.
   */
  readonly scheduler?: SchedulerName | undefined;
  /** Accepted as for `Client.submit`. Has no effect here, because the tasks of a graph have keys. */
  readonly key?: string | undefined;
  /** Accepted as for `Client.submit`. Has no effect here, because equal keys are one task. */
  readonly pure?: boolean | undefined;
  /**
   * Function that runs the graph instead of `scheduler`, e.g. `getThreaded` or `threadProf.get`. Its arguments are the graph
   * in Dask's form, the key (for `compute()`: the array of keys), and the other options. It must return the results in the
   * shape of the keys, or a promise of them.
   */
  readonly get?: Scheduler['get'] | undefined;
}
