// The observers of one run, called in order. Work that no observer needs is skipped.
import { TaskError } from '../base/errors.js';
import { countsOf } from '../base/lookUps.js';
import { countText } from '../base/words.js';
import { flushAtExit, nothingToFlush, reportAtExit } from '../files/exitFlush.js';
import {
  type ClusterObserver,
  droppedSamples,
  prefixOf,
  TASK_CANCELLED,
  type Transfer,
} from '../protocol/clusterObserver.js';
import type { CompletionColumns } from '../protocol/completionLog.js';
import { countsText, TASK_FAILED, TASKS_CUT_OFF, WORKER_LOST } from '../protocol/eventTopics.js';
import type { UnmeasuredWork } from '../protocol/isolateMessages.js';
import { IMPORT_CONTEXT, NESTED_CONTEXT } from '../protocol/metrics.js';
import type { RunObserver } from '../protocol/runObserver.js';
import type { Place, RunView } from './runView.js';
import type { SchedulerState } from './scheduler/schedulerState.js';
import { PROCESSING, QUEUED } from './scheduler/taskStates.js';
import { failureText } from './taskFailure.js';
import { type RecordedComputation, TaskRecorder } from './taskRecorder.js';

export class RunObservers {
  /** Whether an observer needs one call per task. */
  readonly perTask: boolean;
  /** Whether an observer needs every result. */
  readonly results: boolean;
  /** Whether an observer needs the tasks with their workers and times. */
  readonly records: boolean;
  readonly any: boolean;
  readonly #observers: readonly RunObserver[];
  /** Observers whose runStarted was called. Only these receive runFinished. */
  readonly #started: RunObserver[] = [];
  readonly #run: RunView;
  readonly #state: SchedulerState;
  readonly #clock: () => number;
  readonly #recorder = new TaskRecorder((call) => this.#notify(call));
  #recorded: RecordedComputation | undefined;
  /** Ends the report of unfinished tasks at the end of the program. */
  #endReporting: (() => void) | undefined;

  /** @param clock returns seconds since the epoch */
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

  /** @param onSignals whether the program returns to its event loop during the run, where signals that end it are handled */
  runStarted(onSignals = false): void {
    const run = this.#run;
    for (const observer of this.#observers) {
      this.#started.push(observer);
      observer.runStarted?.(run);
      observer.computationAdded?.(run.computation);
    }
    if (this.records) {
      this.#record();
      this.#reportAtExit(onSignals);
    }
    for (const observer of this.#observers) observer.stateReady?.(run);
  }

  #record(): void {
    const { state, readyAt } = this.#state;
    const { computation: info } = this.#run;
    const dispatchedAt = new Float64Array(info.size);
    this.#recorded = { info, dispatchedAt, runs: new Uint8Array(info.size) };
    for (let id = 0; id < info.size; id++) if (state[id] === QUEUED) readyAt[id] = info.submitted;
  }

  workerAdded(place: Place): number {
    const worker = this.#run.addWorker(place);
    this.#notify((observer) => observer.workerAdded?.(worker));
    return worker.index;
  }

  /** Sets the scheduler's time before an event. */
  tick(): void {
    if (this.records) this.#state.now = this.#clock();
  }

  /** Records the time at which tasks are sent. */
  sent(ids: Int32Array): void {
    if (this.#recorded === undefined) return;
    const now = this.#clock();
    const { dispatchedAt } = this.#recorded;
    for (const id of ids) dispatchedAt[id] = now;
  }

  /** The task runs; no effect if that is known. */
  taskStarted(id: number): void {
    const { running } = this.#run;
    if (running.has(id)) return;
    running.add(id);
    for (const observer of this.#observers) if (observer.perTask) observer.taskStarted?.(id, this.#run);
  }

  taskFinished(id: number, value: unknown, worker: number, start: number, stop: number): void {
    this.#run.running.delete(id);
    for (const observer of this.#observers)
      if (observer.perTask) observer.taskFinished?.(id, value, worker, start, stop, this.#run);
  }

  tasksEnded(worker: number, columns: CompletionColumns): void {
    if (this.#recorded === undefined || columns.count === 0) return;
    this.#recorder.ended(this.#recorded, worker, columns, null, this.#state.readyAt, this.#clock());
  }

  /** Tasks do not run any more whose worker has ended. */
  workerRemoved(worker: number, text: string): void {
    const { running } = this.#run;
    for (const id of [...running]) if (this.#state.location[id] === worker) running.delete(id);
    if (this.records) this.#event(worker, WORKER_LOST, text);
  }

  /** Records the end of a worker that was added because other runs blocked all workers. */
  spareEnded(index: number): void {
    const worker = this.#run.workers.get(index);
    if (worker === undefined) return;
    const time = this.#clock();
    this.#notify((observer) => observer.workerRemoved?.(worker, time, 'its computation ended'));
  }

  /** Records a task that ended without a report of its worker. `state`: see TaskRecorder.lost. */
  taskLost(worker: number, id: number, state?: number): void {
    if (this.#recorded === undefined) return;
    this.#recorder.unfinished(this.#recorded, worker, id, this.#state.readyAt[id]!, this.#clock(), state);
  }

  /**
   * Records the unfinished tasks as cancelled: a run of each task that a worker has, and the number of the others.
   *
   * @param hasWorkers false if the thread of the program runs the tasks, so that none of them runs now
   */
  cancelled(hasWorkers: boolean): void {
    if (this.#recorded === undefined) return;
    const { computation } = this.#run;
    const { state, location } = this.#state;
    const others: string[] = [];
    for (let id = 0; id < computation.size; id++) {
      if (this.#state.isFinished(id)) continue;
      if (hasWorkers && state[id] === PROCESSING) this.taskLost(location[id]!, id, TASK_CANCELLED);
      else others.push(prefixOf(computation, id));
    }
    for (const sample of droppedSamples(others, TASK_CANCELLED, this.#clock()))
      this.#notify((observer) => observer.metric?.(sample));
  }

  /** Records metrics of an activity beside tasks, for the prefix of a task. */
  #count(
    worker: number,
    activity: 'import' | 'graph',
    id: number,
    units: Readonly<Record<string, number>>,
  ): void {
    const context = activity === 'import' ? IMPORT_CONTEXT : NESTED_CONTEXT;
    const prefix = id < 0 ? '' : prefixOf(this.#run.computation, id);
    const place = { time: this.#clock(), worker, context, span: '', prefix, activity };
    for (const [unit, value] of Object.entries(units))
      this.#notify((observer) => observer.metric?.({ ...place, unit, value }));
  }

  /** Records work beside tasks on the thread of a worker, and graphs that a task ran. */
  worked(worker: number, { action, start, stop, id, nbytes, graph }: UnmeasuredWork): void {
    if (!this.records) return;
    const seconds = stop - start;
    if (action === 'graph') this.#count(worker, action, id, { count: 1, seconds, ...graph });
    else if (action === 'import') {
      // It counts for the first task that the worker has.
      const first = this.#state.workers.get(worker)?.batches[0]?.ids[0] ?? -1;
      this.#count(worker, action, first, { seconds });
    } else {
      const task = this.#run.computation.firstId + id;
      const interval = { worker, thread: 0, action, start, stop, task, nbytes };
      this.#notify((observer) => observer.interval?.(interval));
    }
  }

  transfer(transfer: Transfer): void {
    this.#notify((observer) => observer.transfer?.(transfer));
  }

  progress(): void {
    for (const observer of this.#observers) observer.progress?.(this.#run);
  }

  #reportAtExit(onSignals: boolean): void {
    const end = reportAtExit(() => this.#reportUnfinished());
    const flush = (): void => undefined;
    if (onSignals) flushAtExit(flush);
    this.#endReporting = () => {
      end();
      nothingToFlush(flush);
    };
  }

  /** Records an event about unfinished tasks, because the program ends. Which of them ran is not known. */
  #reportUnfinished(): void {
    const { computation } = this.#run;
    const prefixes: string[] = [];
    for (let id = 0; id < computation.size; id++)
      if (!this.#state.isFinished(id)) prefixes.push(prefixOf(computation, id));
    if (prefixes.length === 0) return;
    const count = countText(prefixes.length, 'task');
    const text = `${count} had not ended when the program ended: ${countsText(countsOf(prefixes))}.`;
    this.#event(-1, TASKS_CUT_OFF, text);
  }

  #reportFailure(error: TaskError): void {
    const { index = -1 } = [...this.#run.workers.values()].find(({ name }) => name === error.worker) ?? {};
    this.#event(index, TASK_FAILED, failureText(error));
  }

  /** Notifies every observer, even if one throws. Returns the run's error, or else the first error of an observer. */
  runFinished(error: unknown): unknown {
    this.#endReporting?.();
    if (this.records && error instanceof TaskError) this.#reportFailure(error);
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

  #event(worker: number, topic: string, text: string): void {
    const event = { time: this.#clock(), worker, topic, text };
    this.#notify((observer) => observer.event?.(event));
  }

  #notify(call: (observer: ClusterObserver) => void): void {
    for (const observer of this.#observers) call(observer);
  }
}
