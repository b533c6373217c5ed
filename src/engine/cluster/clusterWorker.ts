// A worker of a cluster. Its host's reports become events for the scheduler and rows for the observers.
import type {
  MemorySample,
  ProfileCycle,
  Transfer,
  WorkerInfo,
  WorkInterval,
} from '../../protocol/clusterObserver.js';
import type { CompletionColumns } from '../../protocol/completionLog.js';
import { type ErrorInfo, isErrorInfo, thrownOf } from '../../protocol/errorInfo.js';
import { WORKER_FULL, WORKER_LOST, WORKER_PAUSED, WORKER_RESTARTED } from '../../protocol/eventTopics.js';
import type { Values } from '../../protocol/isolateMessages.js';
import type { MetricChanges } from '../../protocol/metrics.js';
import type { TaskQuestion } from '../../protocol/questions.js';
import {
  isScalar,
  KIND_ERROR,
  KIND_PRIVATE,
  KIND_STORED,
  KIND_VALUE,
  scalarOf,
} from '../../protocol/resultKinds.js';
import type { MissingInput, RunTask, StoredResult } from '../../protocol/workerMessages.js';
import type { HostEvents, HostFacts, WorkerHost } from '../host/hostTypes.js';
import type { TaskErred } from '../scheduler/events.js';
import { onlySuspect } from '../scheduler/failures.js';
import { isAt } from '../scheduler/reports.js';
import { isStartError, killedWorkerError, taskError, taskTimeoutError } from '../taskFailure.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ComputationState } from './computationState.js';
import type { EngineWorker, RunTasks } from './engineWorker.js';
import { metricSamples } from './metricSamples.js';
import { reportSteal, Stealing, type TakenBack } from './stealing.js';
import { failUnreached } from './unreachable.js';
import { dropForgotten, dropUnwanted } from './unwantedResults.js';

export class ClusterWorker implements HostEvents, EngineWorker {
  info: WorkerInfo;
  address = '';
  host!: WorkerHost;
  facts: HostFacts | undefined;
  isPaused = false;
  full: { readonly why: Error; readonly still: boolean } | undefined;
  isLeaving = false;
  /** Completes a transfer that the host reports, e.g. with the keys of its results. */
  onTransfer: (transfer: Transfer) => Transfer = (transfer) => transfer;
  memorySample: MemorySample | undefined;
  readonly started: Promise<void>;
  readonly #engine: ClusterEngine;
  readonly #replace: (cause: Error) => void;
  #start: () => void = () => undefined;
  #failStart: (cause: Error) => void = () => undefined;
  #lastCause: Error = new Error('The worker ended.');
  #globals = new Int32Array(0);
  #accepted = new Uint8Array(0);
  #seconds = new Float64Array(0);
  readonly #stealing = new Stealing((taken) => this.#takenBack(taken));
  #thief: number | undefined;
  #gone = false;

  /** @param replace starts a new worker in the place of this one, which has died */
  constructor(engine: ClusterEngine, info: WorkerInfo, replace: (cause: Error) => void) {
    this.#engine = engine;
    this.info = info;
    this.#replace = replace;
    this.started = new Promise((resolve, reject) => {
      this.#start = resolve;
      this.#failStart = reject;
    });
    // A failed start is no unhandled rejection if no caller waits for it.
    this.started.catch(() => undefined);
  }

  ready(facts: HostFacts): void {
    this.facts = facts;
    this.address = facts.address;
    this.#start();
  }

  leave(): void {
    this.#gone = true;
    this.#engine.questions.lost(this.info.index, 'The worker has left.');
    this.#start();
  }

  /** Stops sending tasks to the worker, whatever its isolate and its memory report from now on. */
  beginToLeave(): void {
    this.isLeaving = true;
    this.#reportPaused();
  }

  #reportPaused(): void {
    const full = this.full !== undefined;
    const leaving = this.isLeaving;
    const paused = this.isPaused || leaving || full;
    this.#engine.handleEvent({ type: 'worker-paused', worker: this.info.index, paused, full, leaving });
  }

  finished(run: number, columns: CompletionColumns, values: ReadonlyMap<number, unknown>): void {
    const computation = this.#computation(run);
    if (computation === undefined) {
      if (!this.#gone) dropForgotten(this.#engine, this.host, run, columns);
      return;
    }
    const failures = this.#take(computation, columns, values);
    const { state } = this.#engine.scheduler;
    if (this.#engine.hasObservers) {
      const { base, size } = computation.segment;
      const readyAt = state.readyAt.subarray(base, base + size);
      const now = this.#engine.clock();
      const { recorder, sent } = this.#engine;
      const runs = recorder.ended(computation, this.info.index, columns, this.#accepted, readyAt, now);
      if (runs !== undefined) sent.ended(computation, runs);
    }
    let from = 0;
    for (const index of failures) {
      this.#finish(computation, columns, from, index);
      from = index + 1;
    }
    this.#finish(computation, columns, from, columns.count);
    // Last, because a failure cancels the tasks that only its dependents need, and those of this report have ended.
    for (const index of failures) {
      const id = columns.ids[index]!;
      this.#fail(computation, id, values.get(id), { batch: columns.batches[index]! });
    }
    this.#engine.closeIfSettled(computation);
  }

  fetched(run: number, values: Values, stored: readonly StoredResult[], missing: Int32Array): void {
    const computation = this.#computation(run);
    if (computation === undefined) return;
    const { base } = computation.segment;
    for (let index = 0; index < values.ids.length; index++)
      computation.results[values.ids[index]!] = values.values[index];
    for (const { id } of stored) this.#engine.stored.add(computation.resultId(id), this.info.index);
    this.#engine.handleEvent({
      type: 'results-fetched',
      worker: this.info.index,
      ids: [...values.ids, ...stored.map(({ id }) => id)].map((id) => base + id),
      stored: stored.map(({ id, nbytes }) => ({ id: base + id, nbytes })),
      missing: Array.from(missing, (id) => base + id),
    });
    this.#engine.closeIfSettled(computation);
  }

  fetchFailed(run: number, id: number, error: ErrorInfo): void {
    const computation = this.#computation(run);
    if (computation === undefined) return;
    this.#fail(computation, id, error, { final: true });
    this.#engine.closeIfSettled(computation);
  }

  /** @param thief index of the worker for which the tasks are taken */
  steal(parts: readonly RunTasks[], thief: number | undefined): void {
    this.#thief = thief;
    this.#stealing.ask(parts, (run, ids) => this.host.steal(run, ids));
  }

  stolen(run: number, ids: readonly number[]): void {
    this.#stealing.answered(run, ids);
  }

  /** Reports the stolen tasks, even none: the scheduler sends the worker nothing until this report. */
  #takenBack(taken: readonly TakenBack[]): void {
    if (this.#gone) return;
    const ids = taken.flatMap(({ run, ids }) => {
      const base = this.#computation(run)?.segment.base;
      return base === undefined ? [] : ids.map((id) => base + id);
    });
    reportSteal(this.#engine, this.info.index, this.#thief, ids);
    this.#engine.handleEvent({ type: 'tasks-stolen', worker: this.info.index, ids });
  }

  gatherFailed(run: number, missing: readonly MissingInput[]): void {
    if (this.#gone) return;
    const computation = this.#computation(run);
    if (computation !== undefined) failUnreached(this.#engine, computation, this.info, missing);
    for (const { from, result } of missing) this.#engine.resultMissing(from, result);
    const base = this.#computation(run)?.segment.base;
    if (base === undefined) return;
    const ids = missing.map(({ id }) => base + id);
    this.#engine.handleEvent({ type: 'results-missing', worker: this.info.index, ids });
  }

  timedOut(task: RunTask, seconds: number): void {
    const { run, id, batch } = task;
    const computation = this.#computation(run);
    if (computation === undefined) return;
    this.#recordLost(computation, task);
    const { info, timeout } = computation;
    this.#engine.explain(computation, id, taskTimeoutError(info, id, this.info.name, timeout, seconds));
    // The isolate is about to be replaced. Tasks that are sent now would be taken back, and might have begun by then.
    this.#engine.handleEvent({ type: 'worker-paused', worker: this.info.index, paused: true });
    this.#engine.handleEvent({
      type: 'task-erred',
      worker: this.info.index,
      id: computation.segment.base + id,
      batch,
    });
  }

  restarted(running: RunTask | undefined, cause: Error, isWanted: boolean): void {
    this.#lastCause = cause;
    this.#stealing.restarted();
    this.#engine.event(WORKER_RESTARTED, cause.message, this.info.index);
    this.#engine.installed.begin(this);
    this.#engine.questions.lost(this.info.index, cause.message);
    const blame = this.#blame(running);
    this.#engine.handleEvent({
      type: 'worker-removed',
      worker: this.info.index,
      restarted: true,
      blame: blame === 'none' && !isWanted ? 'seceded' : blame,
    });
    this.#reportPaused();
  }

  asked(question: TaskQuestion, isolate: number): void {
    if (!this.#gone) this.#engine.questions.asked(this, question, isolate);
  }

  paused(paused: boolean): void {
    this.isPaused = paused;
    this.#engine.event(WORKER_PAUSED[paused ? 'begin' : 'end'], this.info.name, this.info.index);
    this.#reportPaused();
  }

  noteFull(why: Error | undefined, still: boolean): void {
    if (this.#gone) return;
    this.full = why && { why, still };
    if (!still) this.event(WORKER_FULL[why === undefined ? 'end' : 'begin'], why?.message ?? this.info.name);
    this.#reportPaused();
    if (still) this.#engine.fullWorkers.check();
  }

  warning(topic: string, text: string): void {
    this.#engine.fullWorkers.warn(topic, text, this.info.index);
  }

  transfer(transfer: Transfer): void {
    const named = this.onTransfer(transfer);
    // A client reports the results that it gathers. A second report by the worker would count them twice.
    if (named.what === 'get-data' && named.peer < 0) return;
    this.#engine.notify((observer) => observer.transfer?.(named));
  }

  interval(interval: WorkInterval): void {
    this.#engine.notify((observer) => observer.interval?.(interval));
  }

  memory(sample: MemorySample): void {
    this.memorySample = sample;
    this.#engine.notify((observer) => observer.memory?.(sample));
  }

  metrics(changes: MetricChanges): void {
    if (!this.#engine.hasObservers) return;
    for (const sample of metricSamples(changes, this.info.index, this.#engine.clock()))
      this.#engine.notify((observer) => observer.metric?.(sample));
  }

  profile(cycle: ProfileCycle): void {
    this.#engine.notify((observer) => observer.profile?.(this.info.index, cycle, this.#engine.kinds.kindOf));
  }

  event(topic: string, text: string, task?: Omit<RunTask, 'batch'>): void {
    const key = task && this.#computation(task.run)?.info.keys[task.id];
    this.#engine.event(topic, key === undefined ? text : `[${key}] ${text}`, this.info.index);
  }

  lost(cause: Error): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#lastCause = cause;
    this.#failStart(cause);
    this.#engine.event(WORKER_LOST, cause.message, this.info.index);
    // A thread that the system refused has run no task.
    const hasStarted = !isStartError(cause);
    const blame = hasStarted ? this.#blame(this.host.running ?? this.#onlyTask()) : 'none';
    this.#engine.questions.lost(this.info.index, cause.message);
    this.#engine.stored.forgetWorker(this.info.index);
    this.#engine.handleEvent({
      type: 'worker-removed',
      worker: this.info.index,
      blame: blame === 'none' && hasStarted && this.facts !== undefined ? 'unknown' : blame,
    });
    this.#replace(cause);
  }

  killed(global: number, attempts: number): void {
    const found = this.#engine.locate(global);
    if (found === undefined) return;
    const { computation, local } = found;
    this.#engine.explain(
      computation,
      local,
      killedWorkerError(computation.info, local, this.info.name, attempts, this.#lastCause),
    );
  }

  #computation(run: number): ComputationState | undefined {
    return this.#gone ? undefined : this.#engine.computation(run);
  }

  /** Keeps inline results and drops those of tasks that the scheduler has reassigned. Returns the rows that failed. */
  #take(
    computation: ComputationState,
    { ids, batches, kinds, numbers, starts, stops, count }: CompletionColumns,
    values: ReadonlyMap<number, unknown>,
  ): number[] {
    this.#reserve(count);
    const { state } = this.#engine.scheduler;
    const { segment, results } = computation;
    const { index: worker } = this.info;
    const failures: number[] = [];
    for (let index = 0; index < count; index++) {
      const id = ids[index]!;
      const global = segment.base + id;
      const kind = kinds[index]!;
      const accepted = isAt(state, worker, global, batches[index]!);
      this.#accepted[index] = accepted ? 1 : 0;
      this.#seconds[index] = stops[index]! - starts[index]!;
      if (!accepted) {
        if (kind === KIND_STORED) dropUnwanted(this.#engine, this, computation, id);
      } else if (kind === KIND_VALUE) results[id] = values.get(id);
      else if (kind === KIND_STORED) this.#engine.stored.add(computation.resultId(id), worker);
      else if (kind === KIND_ERROR) failures.push(index);
      else if (kind !== KIND_PRIVATE && isScalar(kind)) results[id] = scalarOf(kind, numbers[index]!);
    }
    return failures;
  }

  #finish(computation: ComputationState, columns: CompletionColumns, from: number, to: number): void {
    if (from === to) return;
    // The scheduler may have moved the ids since the last event.
    const { base } = computation.segment;
    for (let index = from; index < to; index++) this.#globals[index] = base + columns.ids[index]!;
    this.#engine.handleEvent({
      type: 'tasks-finished',
      worker: this.info.index,
      ids: this.#globals,
      from,
      to,
      kinds: columns.kinds,
      batches: columns.batches,
      seconds: this.#seconds,
      nbytes: columns.numbers,
    });
  }

  #fail(
    computation: ComputationState,
    id: number,
    thrown: unknown,
    run: Pick<TaskErred, 'batch' | 'final'>,
  ): void {
    const global = computation.segment.base + id;
    const cause = isErrorInfo(thrown) ? thrownOf(thrown) : thrown;
    this.#engine.explain(computation, id, taskError(computation.info, id, this.info.name, cause));
    this.#engine.handleEvent({ type: 'task-erred', worker: this.info.index, id: global, ...run });
  }

  /** Returns the task that the worker may have begun without a report, if it had a single one. */
  #onlyTask(): RunTask | undefined {
    const { state } = this.#engine.scheduler;
    const global = onlySuspect(state, this.info.index);
    if (global === undefined) return undefined;
    const found = this.#engine.locate(global);
    return found && { run: found.computation.info.number, id: found.local, batch: state.batchOf[global]! };
  }

  #blame(running: RunTask | undefined): number | 'none' | 'seceded' {
    if (running === undefined) return 'none';
    const computation = this.#engine.computation(running.run);
    if (computation === undefined) return 'none';
    return this.#recordLost(computation, running) ? computation.segment.base + running.id : 'seceded';
  }

  /** Records a run that ended with its isolate. Returns false if the task was cancelled, even if it was sent again. */
  #recordLost(computation: ComputationState, { id, batch }: RunTask): boolean {
    const { state } = this.#engine.scheduler;
    const global = computation.segment.base + id;
    if (!isAt(state, this.info.index, global, batch)) return false;
    if (!this.#engine.hasObservers) return true;
    const now = this.#engine.clock();
    this.#engine.recorder.unfinished(computation, this.info.index, id, state.readyAt[global]!, now);
    return true;
  }

  #reserve(count: number): void {
    if (this.#globals.length >= count) return;
    this.#globals = new Int32Array(2 * count);
    this.#accepted = new Uint8Array(2 * count);
    this.#seconds = new Float64Array(2 * count);
  }
}
