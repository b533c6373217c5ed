// Numbers of the tasks of a prefix or a span, by state.
import { TASK_CANCELLED, TASK_ERRED, TASK_LOST, TASK_MEMORY } from './clusterObserver.js';

/** A task counts once, by its latest run. */
export class TaskCounts {
  /** Submitted tasks. */
  total = 0;
  /** Tasks with a result. */
  finished = 0;
  erred = 0;
  /** Cancelled tasks. */
  cancelled = 0;
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

  set({ total, finished, erred, cancelled, lost }: TaskCounts): void {
    this.total = total;
    this.finished = finished;
    this.erred = erred;
    this.cancelled = cancelled;
    this.lost = lost;
  }

  /** Returns a copy of these counts without earlier ones. A retried task may have left an earlier count. */
  without(earlier: TaskCounts): TaskCounts {
    const left = new TaskCounts();
    left.total = Math.max(0, this.total - earlier.total);
    left.finished = Math.max(0, this.finished - earlier.finished);
    left.erred = Math.max(0, this.erred - earlier.erred);
    left.cancelled = Math.max(0, this.cancelled - earlier.cancelled);
    left.lost = Math.max(0, this.lost - earlier.lost);
    return left;
  }

  include({ total, finished, erred, cancelled, lost }: TaskCounts): void {
    this.total += total;
    this.finished += finished;
    this.erred += erred;
    this.cancelled += cancelled;
    this.lost += lost;
  }

  #count(state: number, by: number): void {
    if (state === TASK_MEMORY) this.finished += by;
    else if (state === TASK_ERRED) this.erred += by;
    else if (state === TASK_CANCELLED) this.cancelled += by;
    else if (state === TASK_LOST) this.lost += by;
  }
}
