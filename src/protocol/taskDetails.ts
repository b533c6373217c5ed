// The answer to `GET api/task/<id>`: all facts of the trace about one task. Times are seconds since the epoch on the
// scheduler's clock, sizes bytes; null stands for an unknown number. Texts are text, never HTML.

export interface TaskDetails {
  readonly id: number;
  readonly key: string;
  readonly prefix: string;
  readonly group: string;
  readonly functionName: string;
  readonly span: string;
  /** Runs of the task, oldest first; more than one if a run failed or was lost. */
  readonly runs: readonly TaskRunDetails[];
  readonly computation: { readonly number: number; readonly client: string; readonly code: string } | null;
  /** Dependencies and dependents; at most 1,000 of each. */
  readonly dependencies: readonly TaskReference[];
  readonly dependents: readonly TaskReference[];
  readonly dependencyCount: number;
  readonly dependentCount: number;
  /** Transfers of its result; at most 1,000. */
  readonly transfers: readonly TaskTransfer[];
  /** Work for the task beside its own code; at most 1,000 intervals. */
  readonly intervals: readonly TaskInterval[];
  /** Errors with their stacks, and lines of logs that name the task; at most 200, newest last. */
  readonly events: readonly TaskEvent[];
}

export interface TaskRunDetails {
  readonly worker: string;
  readonly thread: number;
  /** Outcome: `memory`, `erred`, `cancelled`, `lost`. */
  readonly state: string;
  readonly attempt: number;
  readonly submitted: number | null;
  readonly ready: number | null;
  readonly dispatched: number | null;
  readonly received: number | null;
  readonly started: number | null;
  readonly stopped: number | null;
  readonly acknowledged: number | null;
  readonly nbytes: number | null;
  readonly resultType: string;
}

/** A reference to a task. `id` is -1 if the trace has no run of it. */
export interface TaskReference {
  readonly id: number;
  readonly key: string;
}

export interface TaskTransfer {
  readonly worker: string;
  /** The other worker; empty for a client. */
  readonly peer: string;
  readonly direction: string;
  readonly what: string;
  readonly nbytes: number | null;
  readonly start: number | null;
  readonly stop: number | null;
}

export interface TaskInterval {
  readonly worker: string;
  readonly action: string;
  readonly start: number | null;
  readonly stop: number | null;
  readonly nbytes: number | null;
}

export interface TaskEvent {
  readonly time: number | null;
  readonly worker: string;
  readonly topic: string;
  readonly text: string;
}
