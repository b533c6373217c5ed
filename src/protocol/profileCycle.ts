// Output of the statistical profiler of one thread after each cycle: samples in columns, with their stacks. Cycles do
// not depend on each other, so that they can cross to another process, or be dropped.

/** `stacks` of a sample in which the thread had nothing to do. */
export const STACK_IDLE = -1;
/** `stacks` of a sample in which the thread ran Longpole's or Node's own code outside any task. */
export const STACK_RUNTIME = -2;

/** Settings of the statistical profiler, in seconds. */
export interface ProfileSettings {
  /** Time between two samples, at least 0.0001. */
  readonly interval: number;
  /** Time after which samples are passed on, at least 0.01. */
  readonly cycleInterval: number;
}

export interface ProfileCycle {
  /** Name of the thread, e.g. `threads-0`; the scheduler's own is `scheduler`. */
  readonly thread: string;
  /** Start and stop in seconds since the epoch; the samples lie between them. */
  readonly start: number;
  readonly stop: number;
  /** Requested seconds between two samples. */
  readonly interval: number;
  /** Stack node → the node of the caller, which has a lower number; -1 for the outermost frame. */
  readonly parents: Int32Array;
  /** Stack node → name, file and first line of its function. */
  readonly names: readonly string[];
  /** Path, or a URL that is no file; empty for code of the engine, e.g. `stringify`. */
  readonly files: readonly string[];
  /** Line from 1; 0 if unknown. */
  readonly lines: Int32Array;
  /** Sample → seconds since the epoch, ascending. */
  readonly times: Float64Array;
  /** Sample → stack node, STACK_IDLE or STACK_RUNTIME. */
  readonly stacks: Int32Array;
  /**
   * Sample → the executed line, from 1; 0 if unknown. The number of samples per line is exact within the cycle. Their
   * assignment to the samples of one stack is not, because V8 counts lines without an order.
   */
  readonly sampleLines: Int32Array;
  /** Sample → the number of the running task, -1 for none. */
  readonly tasks: Float64Array;
}

/** Runs of tasks on a thread, sorted by start. An interval without an end stops at Infinity. */
export interface TaskIntervals {
  readonly starts: ArrayLike<number>;
  readonly stops: ArrayLike<number>;
  readonly tasks: ArrayLike<number>;
}
