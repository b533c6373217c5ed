// Options of everything that runs a graph. graph/ knows them only to pass them on.
import type { SchedulerSetting } from '../base/settings.js';

/** The part of an AbortSignal that is used. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * What runs the tasks: worker threads, child processes, the caller's own thread, or a cluster: that of the client which
 * was connected last, else a local cluster with the default settings, which ends with the program.
 */
export type SchedulerName = SchedulerSetting;

/** How a cluster runs tasks. */
export interface ClusterTaskOptions {
  /** Higher runs first. Default 0; computations with equal priority run in the order of their submission. */
  readonly priority?: number | undefined;
  /** How often a task that throws is tried again. Default 0. */
  readonly retries?: number | undefined;
  /** Names or addresses of the workers that may run the tasks. Default: all. */
  readonly workers?: string | readonly string[] | undefined;
  /** What a worker must offer, e.g. `{ GPU: 1 }`. */
  readonly resources?: Readonly<Record<string, number>> | undefined;
  /** Seconds that a task may run before it is ended and fails. Default: as long as it likes. */
  readonly timeout?: number | undefined;
}

/** Options of local schedulers. `Callbacks` is what the callbacks option takes; see `longpole/local`. */
export interface LocalOptions<Callbacks = unknown> {
  /** Cancels the computation, also a task that is running. */
  readonly signal?: AbortSignalLike | undefined;
  /** How many workers run tasks. Default: the setting `workers`, else one per core. Minimum 1. */
  readonly numWorkers?: number | undefined;
  /** Callbacks for this computation, beside those that are registered. */
  readonly callbacks?: Callbacks | undefined;
  /** How often a task may be running when its worker dies before the computation fails. Default 3, minimum 1. */
  readonly allowedFailures?: number | undefined;
}

/** Options of `compute`: of a cluster, or of local schedulers. */
export interface ComputeOptions<Callbacks = unknown> extends LocalOptions<Callbacks>, ClusterTaskOptions {
  /**
   * Default: the client that was connected last; without one a cluster if one of its options is given, else the setting
   * `scheduler`, else `'threads'`.
   */
  readonly scheduler?: SchedulerName | undefined;
}
