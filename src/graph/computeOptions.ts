/** The part of an AbortSignal that is used. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Options of `compute`. */
export interface ComputeOptions {
  /** Cancels the computation, also a task that is running. */
  readonly signal?: AbortSignalLike;
  /** How many isolates run tasks. Default: one per core. */
  readonly numWorkers?: number;
}
