// What the statistical profiler of one thread hands on after each cycle: its samples in columns, with the stacks that
// they need. Every cycle stands for itself, so that it can cross to another process or be dropped without a trace.

/** `stacks` of a sample: the thread had nothing to do. */
export const STACK_IDLE = -1;
/** `stacks` of a sample: the thread ran Longpole's or Node's own code, and no task's. */
export const STACK_RUNTIME = -2;

/** How the statistical profiler samples, in seconds. */
export interface ProfileSettings {
  /** Time between two samples, at least 0.0001. */
  readonly interval: number;
  /** Time after which samples are handed on, at least 0.01. */
  readonly cycleInterval: number;
}

export interface ProfileCycle {
  /** Name of the thread, e.g. `threads-0`; the scheduler's own is `scheduler`. */
  readonly thread: string;
  /** Seconds since the epoch; the samples lie between the two. */
  readonly start: number;
  readonly stop: number;
  /** Seconds between two samples, as asked for. */
  readonly interval: number;
  /** Stack node → the node of the caller, which has a lower number; -1: the outermost frame. */
  readonly parents: Int32Array;
  /** Stack node → name, file and first line of its function. */
  readonly names: readonly string[];
  /** A path, or a URL that is no file; empty for code that is part of the engine, e.g. `stringify`. */
  readonly files: readonly string[];
  /** From 1; 0: not known. */
  readonly lines: Int32Array;
  /** Sample → seconds since the epoch; they ascend. */
  readonly times: Float64Array;
  /** Sample → stack node, STACK_IDLE or STACK_RUNTIME. */
  readonly stacks: Int32Array;
  /**
   * Sample → the line that ran, from 1; 0: not known. How often a line ran within the cycle is exact, at which of the
   * samples of one stack it ran is not: V8 counts lines, it does not keep them in order.
   */
  readonly sampleLines: Int32Array;
  /** Sample → the number of the task that ran, -1: none. */
  readonly tasks: Float64Array;
}

/** When a thread ran which task. Sorted by start; an interval that has no end yet stops at Infinity. */
export interface TaskIntervals {
  readonly starts: ArrayLike<number>;
  readonly stops: ArrayLike<number>;
  readonly tasks: ArrayLike<number>;
}
