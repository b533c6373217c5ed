// The observers of one run, told in order. What none of them wants is not done.
import type { ClusterObserver } from '../protocol/clusterObserver.js';
import type { CompletionColumns } from '../protocol/completionLog.js';
import type { RunObserver } from '../protocol/runObserver.js';
import type { Place, RunView } from './runView.js';
import type { SchedulerState } from './scheduler/schedulerState.js';
import { QUEUED } from './scheduler/taskStates.js';
import { type RecordedComputation, TaskRecorder } from './taskRecorder.js';

export class RunObservers {
  /** An observer wants one call per task. */
  readonly perTask: boolean;
  /** An observer wants every result. */
  readonly results: boolean;
  /** An observer wants to know which tasks ran, where and when. */
  readonly records: boolean;
  readonly any: boolean;
  readonly #observers: readonly RunObserver[];
  /** Those whose runStarted was called: only they hear of the end. */
  readonly #started: RunObserver[] = [];
  readonly #run: RunView;
  readonly #state: SchedulerState;
  readonly #clock: () => number;
  readonly #recorder = new TaskRecorder((call) => this.#notify(call));
  #recorded: RecordedComputation | undefined;

  /** `clock`: seconds since the epoch. */
  constructor(observers: readonly RunObserver[], run: RunView, state: SchedulerState, clock: () => number) {
    this.#observers = observers;
    this.#run = run;
    this.#state = state;
    this.#clock = clock;
    this.any = observers.length > 0;
    this.perTask = observers.some((observer) => observer.perTask);
    this.results = observers.some((observer) => observer.results);
    this.records = observers.some((observer) => observer.tasksEnded !== undefined);
  }

  runStarted(): void {
    const run = this.#run;
    for (const observer of this.#observers) {
      this.#started.push(observer);
      observer.runStarted?.(run);
      observer.computationAdded?.(run.computation);
    }
    if (this.records) this.#record();
    for (const observer of this.#observers) observer.stateReady?.(run);
  }

  #record(): void {
    const { state, readyAt } = this.#state;
    const { computation: info } = this.#run;
    const dispatchedAt = new Float64Array(info.size);
    this.#recorded = { info, dispatchedAt, runs: new Uint8Array(info.size) };
    for (let id = 0; id < info.size; id++) if (state[id] === QUEUED) readyAt[id] = info.submitted;
  }

  /** A worker takes part in the run; returns its index. */
  workerAdded(place: Place): number {
    const worker = this.#run.addWorker(place);
    this.#notify((observer) => observer.workerAdded?.(worker));
    return worker.index;
  }

  /** The scheduler handles an event now. */
  tick(): void {
    if (this.records) this.#state.now = this.#clock();
  }

  /** The tasks are being sent now. */
  sent(ids: Int32Array): void {
    if (this.#recorded === undefined) return;
    const now = this.#clock();
    const { dispatchedAt } = this.#recorded;
    for (const id of ids) dispatchedAt[id] = now;
  }

  taskStarted(id: number): void {
    for (const observer of this.#observers) if (observer.perTask) observer.taskStarted?.(id, this.#run);
  }

  taskFinished(id: number, value: unknown, worker: number, start: number, stop: number): void {
    for (const observer of this.#observers)
      if (observer.perTask) observer.taskFinished?.(id, value, worker, start, stop, this.#run);
  }

  tasksEnded(worker: number, columns: CompletionColumns): void {
    if (this.#recorded === undefined || columns.count === 0) return;
    this.#recorder.ended(this.#recorded, worker, columns, null, this.#state.readyAt, this.#clock());
  }

  /** The task ended without a report of its worker; `state` as of TaskRecorder.lost. */
  taskLost(worker: number, id: number, state?: number): void {
    if (this.#recorded === undefined) return;
    this.#recorder.lost(this.#recorded, worker, id, this.#state.readyAt[id]!, this.#clock(), state);
  }

  progress(): void {
    for (const observer of this.#observers) observer.progress?.(this.#run);
  }

  /** Tells every observer, also if one throws; returns the run's error, or the first that an observer threw. */
  runFinished(error: unknown): unknown {
    let first = error;
    for (const observer of this.#started.splice(0)) {
      try {
        observer.runFinished?.(this.#run, error);
        observer.computationForgotten?.(this.#run.computation);
      } catch (thrown) {
        first ??= thrown;
      }
    }
    return first;
  }

  #notify(call: (observer: ClusterObserver) => void): void {
    for (const observer of this.#observers) call(observer);
  }
}
