// The observers of one run, told in order. What none of them wants is not done.
import type { CompletedTasks, RunInfo, RunObserver } from '../protocol/runObserver.js';

export class RunObservers {
  /** Somebody wants one call per task. */
  readonly perTask: boolean;
  /** Somebody wants every result. */
  readonly results: boolean;
  /** Somebody wants to know when tasks ran. */
  readonly times: boolean;
  readonly any: boolean;
  readonly #observers: readonly RunObserver[];
  /** Those whose runStarted was called: only they hear of the end. */
  readonly #started: RunObserver[] = [];

  constructor(observers: readonly RunObserver[]) {
    this.#observers = observers;
    this.any = observers.length > 0;
    this.perTask = observers.some((observer) => observer.perTask);
    this.results = observers.some((observer) => observer.results);
    this.times = observers.some((observer) => observer.perTask || observer.completed !== undefined);
  }

  runStarted(run: RunInfo): void {
    for (const observer of this.#observers) {
      this.#started.push(observer);
      observer.runStarted?.(run);
    }
  }

  stateReady(run: RunInfo): void {
    for (const observer of this.#observers) observer.stateReady?.(run);
  }

  taskStarted(id: number, run: RunInfo): void {
    for (const observer of this.#observers) if (observer.perTask) observer.taskStarted?.(id, run);
  }

  taskFinished(id: number, value: unknown, worker: number, start: number, stop: number, run: RunInfo): void {
    for (const observer of this.#observers)
      if (observer.perTask) observer.taskFinished?.(id, value, worker, start, stop, run);
  }

  completed(tasks: CompletedTasks, run: RunInfo): void {
    for (const observer of this.#observers) observer.completed?.(tasks, run);
  }

  progress(run: RunInfo): void {
    for (const observer of this.#observers) observer.progress?.(run);
  }

  /** Tells everybody, also if one throws; returns the run's error, or the first that an observer threw. */
  runFinished(run: RunInfo, error: unknown): unknown {
    let first = error;
    for (const observer of this.#started.splice(0)) {
      try {
        observer.runFinished?.(run, error);
      } catch (thrown) {
        first ??= thrown;
      }
    }
    return first;
  }
}
