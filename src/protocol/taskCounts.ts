// Numbers of the tasks of a prefix or a span, by state.
import { TASK_CANCELLED, TASK_ERRED, TASK_LOST, TASK_MEMORY, TASK_SKIPPED } from './clusterObserver.js';

const COUNTS = ['total', 'finished', 'erred', 'cancelled', 'skipped', 'lost'] as const;

/** A task counts once, by its latest run. */
export class TaskCounts {
  /** Submitted tasks. */
  total = 0;
  /** Tasks with a result. */
  finished = 0;
  erred = 0;
  /** Cancelled tasks. */
  cancelled = 0;
  /** Tasks that did not run because another one failed. */
  skipped = 0;
  /** Runs, not tasks, whose worker was lost. */
  lost = 0;

  /**
   * Counts the end of a run. `before` is 0, or 1 + the state of the task's previous run. A lost run is repeated, and
   * changes only `lost`.
   */
  ended(state: number, before: number): void {
    if (state !== TASK_LOST && before > 0) this.#count(before - 1, -1);
    this.#count(state, 1);
  }

  set(other: TaskCounts): void {
    for (const name of COUNTS) this[name] = other[name];
  }

  /** Returns a copy of these counts without earlier ones. A retried task may have left an earlier count. */
  without(earlier: TaskCounts): TaskCounts {
    const left = new TaskCounts();
    for (const name of COUNTS) left[name] = Math.max(0, this[name] - earlier[name]);
    return left;
  }

  include(other: TaskCounts): void {
    for (const name of COUNTS) this[name] += other[name];
  }

  #count(state: number, by: number): void {
    if (state === TASK_MEMORY) this.finished += by;
    else if (state === TASK_ERRED) this.erred += by;
    else if (state === TASK_CANCELLED) this.cancelled += by;
    else if (state === TASK_SKIPPED) this.skipped += by;
    else if (state === TASK_LOST) this.lost += by;
  }
}
