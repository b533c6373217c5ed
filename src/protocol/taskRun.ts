// What an isolate reports of a run of a task.

/** Measurements of a run of a task; times are seconds since the epoch. */
export interface TaskRun extends TaskAway {
  id: number;
  batch: number;
  /** Time at which the isolate received its batch. */
  received: number;
  start: number;
  stop: number;
  /** Seconds in which the task waited for a core; NaN if unknown. */
  coreWait: number;
}

/**
 * When a task left its slot, from when it waited for no result any more, and for how many seconds it did not use the thread
 * after it had left its slot. NaN if it stayed.
 */
export interface TaskAway {
  seceded: number;
  resumed: number;
  waited: number;
}

export const STAYED: TaskAway = { seceded: Number.NaN, resumed: Number.NaN, waited: Number.NaN };
