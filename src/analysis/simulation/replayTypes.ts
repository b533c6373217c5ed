// What a simulation is given and what it says: tasks in the engine's order, the conditions under which they run.

/** The tasks to run. Ids are priorities: a smaller id runs earlier, and every dependency has a smaller id. */
export interface ReplayGraph {
  readonly size: number;
  readonly dependencyOffsets: Int32Array;
  readonly dependencies: Int32Array;
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  /** Seconds that each task computes; of a first call without what it takes longer. */
  readonly seconds: Float64Array;
  /** Which kind each task is of as to first calls; -1: none. */
  readonly kindOf: Int32Array;
  /** Seconds that the first calls of a kind on a worker take longer, `FIRST_CALLS` of each kind. */
  readonly firstCalls: Float64Array;
  /** Bytes of each result. */
  readonly nbytes: Float64Array;
  /** Which submission each task belongs to. */
  readonly submissionOf: Int32Array;
  /** In the order in which they were made. */
  readonly submissions: readonly Submission[];
}

/** Tasks that the client hands over at one moment. */
export interface Submission {
  /** The task whose result the client acts upon; -1: the submission before this one, for the first the beginning. */
  readonly cause: number;
  /** Seconds from there. */
  readonly delay: number;
}

export interface ReplayConditions {
  readonly workers: number;
  /** Seconds until the workers are there. */
  readonly startup: number;
  /** How many times longer tasks take by how many run at the same time; beyond the last entry as there. Empty: none. */
  readonly stretch: Float64Array;
  /** Seconds that pass on a worker before each task. */
  readonly taskOverhead: number;
  /** Seconds until an idle worker starts a task that has become ready. */
  readonly latency: number;
  /** The same where the worker itself made the last input just now. */
  readonly followLatency: number;
  /** Seconds until a worker that goes on with another task tells that it has finished one: others learn of it then. */
  readonly report: number;
  /**
   * The scheduler is far from its workers, which hold tasks ahead: while one is on its way they run the next that is there.
   * Otherwise a task is where it runs the moment it could, and a worker that takes it waits for it.
   */
  readonly sendsAhead: boolean;
  /** Seconds of the scheduler, which does one thing at a time, for each task. */
  readonly schedulerSeconds: number;
  /** Bytes per second between two workers; Infinity: they share memory. */
  readonly bandwidth: number;
  /** Seconds for each input that is moved, however small. */
  readonly transferLatency: number;
  /** Bytes of results that a worker keeps before it writes them to disk; Infinity: no limit. */
  readonly memory: number;
  /** Bytes per second of the disk. */
  readonly diskBandwidth: number;
}

export interface ReplayResult {
  /** Seconds from the first submission to the end of the last task. */
  readonly makespan: number;
  /** Seconds that all tasks computed, as much longer as they took because of others. */
  readonly computed: number;
  /** Share of the workers' time that tasks computed, 0 to 1. */
  readonly busy: number;
  /** Seconds by which transfers held up their task, all workers together. */
  readonly transferSeconds: number;
  /** Bytes of results that one worker held in memory at most. */
  readonly held: number;
  /** Bytes written to disk. */
  readonly spilled: number;
  /** Tasks that ran: less than the size only if the graph has a cycle. */
  readonly finished: number;
}
