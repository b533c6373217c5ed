// Options of everything that runs a graph. graph/ knows them only to pass them on.

/** The part of an AbortSignal that is used. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Which kind of worker runs the tasks: worker threads, child processes, or the caller's own thread. */
export type SchedulerName = 'threads' | 'processes' | 'sync';

/** Options of `compute`. `Callbacks` is what the callbacks option takes; see `longpole/local`. */
export interface ComputeOptions<Callbacks = unknown> {
  /** Cancels the computation, also a task that is running. */
  readonly signal?: AbortSignalLike | undefined;
  /** How many workers run tasks. Default: one per core. Minimum 1. */
  readonly numWorkers?: number | undefined;
  /** Default `'threads'`. */
  readonly scheduler?: SchedulerName | undefined;
  /** Callbacks for this computation, beside those that are registered. */
  readonly callbacks?: Callbacks | undefined;
  /** How often a task may be running when its worker dies before the computation fails. Default 3, minimum 1. */
  readonly allowedFailures?: number | undefined;
}
