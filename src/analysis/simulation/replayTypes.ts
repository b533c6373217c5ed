// The types of a simulation's input and output.

/** The tasks to run. Ids are priorities: a smaller id runs earlier, and every dependency has a smaller id. */
export interface ReplayGraph {
  readonly size: number;
  readonly dependencyOffsets: Int32Array;
  readonly dependencies: Int32Array;
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  /** Seconds of each task, without the additional seconds of first calls. */
  readonly seconds: Float64Array;
  /** Kind of each task with respect to first calls; -1 if its first calls take no longer. */
  readonly kindOf: Int32Array;
  /** Additional seconds of the first calls on a worker, `FIRST_CALLS` numbers per kind. */
  readonly firstCalls: Float64Array;
  /** Bytes of each result. */
  readonly nbytes: Float64Array;
  readonly submissionOf: Int32Array;
  /** Submissions in order of time. */
  readonly submissions: readonly Submission[];
}

/** Tasks that the client submits at one time. */
export interface Submission {
  /** Task whose result precedes the submission; -1 for the previous submission, or for the start of the run. */
  readonly cause: number;
  /** Seconds after that result or submission. */
  readonly delay: number;
}

export interface ReplayConditions {
  readonly workers: number;
  /** Seconds until the workers have started. */
  readonly startup: number;
  /**
   * Factor by which tasks take longer, by the number of running tasks. The last entry is also for more; empty for 1.
   */
  readonly stretch: Float64Array;
  /** Seconds of a worker before each task. */
  readonly taskOverhead: number;
  /** Seconds until an idle worker starts a task that has become ready. */
  readonly latency: number;
  /** Seconds until a worker that has just computed the last input starts the task. */
  readonly followLatency: number;
  /** Seconds until a worker that continues with another task reports a finished one. */
  readonly report: number;
  /**
   * True if a remote scheduler sends tasks to workers in advance, so that a worker runs other tasks while one is on its
   * way. False if a worker waits for each task after it has become ready.
   */
  readonly sendsAhead: boolean;
  /** Seconds of the scheduler per task. The scheduler handles one task at a time. */
  readonly schedulerSeconds: number;
  /** Bytes per second between two workers; Infinity for shared memory. */
  readonly bandwidth: number;
  /** Seconds per transferred input of any size. */
  readonly transferLatency: number;
  /** Bytes of results that a worker holds before it spills; Infinity for no limit. */
  readonly memory: number;
  /** Bytes per second of the disk. */
  readonly diskBandwidth: number;
}

export interface ReplayResult {
  /** Seconds from the first submission to the end of the last task. */
  readonly makespan: number;
  /** Sum of the durations of all tasks, in seconds, including the slowdown by concurrent tasks. */
  readonly computed: number;
  /** Share of the workers' time in which tasks computed, 0 to 1. */
  readonly busy: number;
  /** Largest number of bytes of results in the memory of a worker. A memory limit of `held / 0.6` avoids spilling. */
  readonly held: number;
  /** Bytes written to disk. */
  readonly spilled: number;
  /** Number of tasks that ran, below the size of the graph only if it has a cycle. */
  readonly finished: number;
}
