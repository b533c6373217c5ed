// Runs a plan on a pool: the shell around the scheduler. Messages become events and instructions become messages. The
// run collects results and notifies observers. It always ends once, with its results or with one error.
import { TaskError } from '../base/errors.js';
import type { Plan } from '../graph/compile.js';
import type { AbortSignalLike } from '../graph/computeOptions.js';
import { TASK_ERRED } from '../protocol/clusterObserver.js';
import type { CompletionColumns } from '../protocol/completionLog.js';
import { fromErrorInfo, isErrorInfo, thrownOf } from '../protocol/errorInfo.js';
import type { FunctionRef } from '../protocol/functionRef.js';
import type { Graph } from '../protocol/graph.js';
import { type Batch, NO_IDS } from '../protocol/isolateMessages.js';
import { KIND_ERROR, KIND_PACKED, KIND_PRIVATE, KIND_VALUE, scalarOf } from '../protocol/resultKinds.js';
import type { RunObserver } from '../protocol/runObserver.js';
import { epochSeconds } from '../resources/clock.js';
import { argumentError, batchConstants, batchPriority } from './batchValues.js';
import { BlockedIsolates } from './blockedIsolates.js';
import { expectedDurations, rememberDurations, secondsOf } from './durations.js';
import { finishedEvent } from './finishedEvent.js';
import { HeldResults } from './heldResults.js';
import { inOrder } from './inOrder.js';
import type { Isolate, RunHandler } from './pool/isolate.js';
import type { Pool, PoolShare } from './pool/pool.js';
import { ProgramCopies } from './programCopies.js';
import { RunObservers } from './runObservers.js';
import { RunView } from './runView.js';
import { MOST_IN_BATCHES } from './scheduler/batching.js';
import type { Dispatch, Instruction, SchedulerEvent } from './scheduler/events.js';
import { Scheduler } from './scheduler/scheduler.js';
import { schedulerGraph } from './schedulerGraph.js';
import { abortedError, idleDeathsError, killedWorkerError, taskError } from './taskFailure.js';

export interface PoolRunOptions extends PoolShare {
  readonly pool: Pool;
  readonly functions: readonly FunctionRef[];
  readonly observers?: readonly RunObserver[];
  readonly signal?: AbortSignalLike;
  /** See OpenRunMessage.concurrentTasks. Default 1. */
  readonly concurrentTasks?: number | undefined;
  /** Deaths of a worker during one task after which the task fails. Default 3. */
  readonly allowedFailures?: number;
}

/** Time between two polls of busy isolates, in milliseconds. Observers receive a task slightly later at most. */
const POLL_MS = 10;
/** Consecutive deaths of idle isolates, without a finished task, after which the run fails. */
const MAX_IDLE_DEATHS = 5;

let nextRun = 1;

/** Runs all tasks of the plan. Resolves with the results by task id; unrequested results may be undefined. */
export function runOnPool(graph: Graph, plan: Plan, options: PoolRunOptions): Promise<readonly unknown[]> {
  const { pool, signal } = options;
  // Isolates start while the scheduler is made.
  if (signal?.aborted !== true)
    for (const place of pool.places(0, plan.program.size, options)) pool.isolate(place);
  return new Promise((resolve, reject) => {
    new PoolRun(graph, plan, options, resolve, reject).start();
  });
}

class PoolRun {
  readonly #run = nextRun++;
  readonly #plan: Plan;
  readonly #options: PoolRunOptions;
  readonly #scheduler: Scheduler;
  readonly #observers: RunObservers;
  /** Undefined if nothing is recorded. */
  readonly #copies: ProgramCopies | undefined;
  readonly #view: RunView;
  readonly #results: HeldResults;
  readonly #concurrentTasks: number;
  readonly #isolates = new Map<number, Isolate>();
  readonly #indices = new Map<Isolate, { index: number; place: number }>();
  readonly #resolve: (results: readonly unknown[]) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onAbort = (): void => {
    const { reason } = this.#options.signal ?? {};
    const error = abortedError(reason, this.#view.finishedCount, this.#plan.program.size);
    this.#guard(() => this.#observers.cancelled(true));
    this.#fail(error);
  };
  readonly #handler: RunHandler = {
    finished: (isolate, columns, values) => this.#guard(() => this.#take(isolate, columns, values)),
    fetched: (isolate, values, missing, packed) =>
      this.#fromWorker(isolate, (worker) => {
        this.#results.setAll(values, packed);
        const ids = [...values.ids, ...packed.ids];
        this.#handle({ type: 'results-fetched', worker, ids, missing: Array.from(missing) });
      }),
    fetchFailed: (isolate, id, error) =>
      this.#fail(taskError(this.#plan, id, isolate.name, fromErrorInfo(error))),
    stolen: (isolate, ids) =>
      this.#fromWorker(isolate, (worker) => {
        this.#handle({ type: 'tasks-stolen', worker, ids });
        this.#blocked.stolen(isolate, worker);
      }),
    seceded: (isolate, id, batch) =>
      this.#fromWorker(isolate, (worker) => this.#handle({ type: 'task-seceded', worker, id, batch })),
    worked: (isolate, work) => this.#fromWorker(isolate, (worker) => this.#observers.worked(worker, work)),
    lost: (isolate, running, cause) => this.#guard(() => this.#replace(isolate, running, cause)),
  };
  #timer: NodeJS.Timeout | undefined;
  #idleDeaths = 0;
  #settled = false;
  readonly #carryOutAll = inOrder<Instruction>((one) => this.#carryOut(one));
  readonly #blocked: BlockedIsolates;

  constructor(
    graph: Graph,
    plan: Plan,
    options: PoolRunOptions,
    resolve: (results: readonly unknown[]) => void,
    reject: (error: unknown) => void,
  ) {
    this.#plan = plan;
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#results = new HeldResults(plan.program.size);
    const { allowedFailures, concurrentTasks = 1 } = options;
    this.#concurrentTasks = concurrentTasks;
    this.#scheduler = new Scheduler(schedulerGraph(plan), {
      expected: expectedDurations(plan),
      concurrentTasks,
      allowedFailures,
    });
    const { state } = this.#scheduler;
    this.#view = new RunView(graph, plan, state, (id) => this.#results.get(id), this.#run);
    this.#observers = new RunObservers(options.observers ?? [], this.#view, state, epochSeconds);
    if (this.#observers.records)
      this.#copies = new ProgramCopies(plan.keys, (transfer) => this.#observers.transfer(transfer));
    this.#blocked = new BlockedIsolates({
      run: this.#run,
      state,
      handle: (event) => this.#handle(event),
      addSpare: () => this.#addIsolate(options.pool.sparePlace(options)),
      left: (isolate) => this.#leave(isolate),
    });
  }

  start(): void {
    this.#guard(() => {
      this.#observers.runStarted(true);
      if (this.#scheduler.isDone) {
        this.#succeed();
        return;
      }
      const { signal } = this.#options;
      if (signal?.aborted) return this.#onAbort();
      signal?.addEventListener('abort', this.#onAbort);
      this.#timer = setInterval(() => this.#guard(() => this.#tick()), POLL_MS);
      this.#join();
    });
  }

  /** Handles a report of an isolate that belongs to the run. */
  #fromWorker(isolate: Isolate, body: (worker: number) => void): void {
    const worker = this.#indices.get(isolate)?.index;
    if (worker !== undefined) this.#guard(() => body(worker));
  }

  /** Calls `body`. An error, usually of an observer, ends the run. */
  #guard(body: () => void): void {
    if (this.#settled) return;
    try {
      body();
    } catch (error) {
      this.#fail(error);
    }
    this.#copies?.used();
  }

  /** Takes free places of the pool within the limits. A place in use may have a task that never ends. */
  #join(): void {
    const places = this.#options.pool.places(this.#indices.size, this.#plan.program.size, this.#options);
    for (const place of places) this.#addIsolate(place);
  }

  #addIsolate(place: number): void {
    const isolate = this.#options.pool.isolate(place);
    const index = this.#observers.workerAdded(isolate);
    this.#isolates.set(index, isolate);
    this.#indices.set(isolate, { index, place });
    const { program } = this.#plan;
    // Tasks that have left their slots end beside those in batches.
    const most = (this.#concurrentTasks > 1 ? 2 : 1) * MOST_IN_BATCHES;
    const spec = {
      run: this.#run,
      program,
      functions: this.#options.functions,
      maxOutstanding: Math.min(program.size, most),
      concurrentTasks: this.#concurrentTasks,
      sized: this.#observers.records,
    };
    isolate.open(spec, this.#handler);
    this.#handle({ type: 'worker-added', worker: index });
  }

  #replace(isolate: Isolate, running: number | undefined, cause: Error): void {
    const known = this.#indices.get(isolate);
    if (known === undefined) return;
    const { index, place } = known;
    this.#blocked.ended(isolate);
    this.#indices.delete(isolate);
    this.#isolates.delete(index);
    const idle = this.#scheduler.state.workers.get(index)?.seceded.size === 0 ? 'none' : 'seceded';
    const blame = running === undefined ? 'unknown' : running < 0 ? idle : running;
    if (blame === 'none' && ++this.#idleDeaths >= MAX_IDLE_DEATHS) throw idleDeathsError(isolate.name, cause);
    this.#observers.workerRemoved(index, cause.message);
    if (typeof blame === 'number') this.#observers.taskLost(index, blame);
    this.#observers.tick();
    const instructions = this.#scheduler.handle({ type: 'worker-removed', worker: index, blame });
    for (const instruction of instructions) {
      if (instruction.type !== 'task-killed') continue;
      throw killedWorkerError(this.#plan, instruction.id, isolate.name, instruction.attempts, cause);
    }
    this.#carryOutAll(instructions);
    this.#addIsolate(place);
  }

  #take(isolate: Isolate, columns: CompletionColumns, values: ReadonlyMap<number, unknown>): void {
    const known = this.#indices.get(isolate);
    if (known === undefined) return;
    this.#copies?.received(known.index, isolate.readyAt, columns, values);
    if (columns.count > 0) {
      this.#idleDeaths = 0;
      this.#blocked.moved(isolate, known.index);
    }
    this.#storeResults(isolate, columns, values);
    if (this.#settled) return;
    const seconds = secondsOf(columns);
    const event = finishedEvent(known.index, columns, seconds);
    if (this.#observers.perTask) {
      this.#notifyEach(known.index, columns, seconds);
      if (this.#settled) return;
      this.#handle({ ...event, to: 0 });
    } else {
      this.#handle(event);
    }
    if (this.#observers.any) this.#notifyEnded(known.index, columns);
    if (this.#scheduler.isDone) this.#succeed();
  }

  /** Stores results up to the first failed task. That task ends the run after the tasks before it are counted. */
  #storeResults(isolate: Isolate, columns: CompletionColumns, values: ReadonlyMap<number, unknown>): void {
    const { ids, kinds, numbers, count } = columns;
    for (let index = 0; index < count; index++) {
      const id = ids[index]!;
      const kind = kinds[index]!;
      if (kind === KIND_VALUE) this.#results.set(id, values.get(id));
      else if (kind === KIND_PACKED) this.#results.setPacked(id, values.get(id));
      else if (kind === KIND_ERROR) {
        this.#failAt(isolate, columns, index, values.get(id));
        return;
      } else if (kind !== KIND_PRIVATE) this.#results.set(id, scalarOf(kind, numbers[index]!));
    }
  }

  #failAt(isolate: Isolate, columns: CompletionColumns, index: number, thrown: unknown): void {
    const worker = this.#indices.get(isolate)?.index ?? -1;
    const before: CompletionColumns = { ...columns, count: index };
    if (this.#observers.perTask) this.#notifyEach(worker, before, secondsOf(before));
    else this.#scheduler.finishQuietly(finishedEvent(worker, before, null));
    this.#notifyEnded(worker, { ...columns, count: index + 1 });
    const id = columns.ids[index]!;
    if (this.#observers.perTask) this.#observers.taskStarted(id);
    this.#fail(taskError(this.#plan, id, isolate.name, isErrorInfo(thrown) ? thrownOf(thrown) : thrown));
  }

  #notifyEach(worker: number, columns: CompletionColumns, seconds: Float64Array): void {
    const { ids, starts, stops, count } = columns;
    const event = finishedEvent(worker, columns, seconds);
    for (let index = 0; index < count && !this.#settled; index++) {
      const id = ids[index]!;
      this.#observers.taskStarted(id);
      const value = this.#results.get(id);
      this.#scheduler.finishQuietly({ ...event, from: index, to: index + 1 });
      this.#observers.taskFinished(id, value, worker, starts[index]!, stops[index]!);
    }
  }

  #notifyEnded(worker: number, columns: CompletionColumns): void {
    this.#observers.tasksEnded(worker, columns);
    this.#observers.progress();
  }

  #tick(): void {
    for (const isolate of [...this.#indices.keys()]) {
      isolate.poll(this.#run);
      if (this.#settled) return;
      if (!this.#observers.perTask) continue;
      const { run, id = -1 } = isolate.executing ?? {};
      if (run === this.#run && !this.#scheduler.state.isFinished(id)) this.#observers.taskStarted(id);
      // A callback may have aborted the run.
      if (this.#settled) return;
    }
    if (this.#observers.any) this.#observers.progress();
    this.#blocked.poll(this.#indices);
    this.#join();
    this.#handle({ type: 'idle-check' });
  }

  #handle(event: SchedulerEvent): void {
    this.#observers.tick();
    this.#carryOutAll(this.#scheduler.handle(event));
  }

  #carryOut(instruction: Instruction): void {
    if (this.#settled) return;
    switch (instruction.type) {
      case 'dispatch':
        this.#dispatch(instruction);
        break;
      case 'release':
        for (const id of instruction.ids) this.#results.drop(id);
        for (const { worker, ids } of instruction.workers)
          this.#isolates.get(worker)?.release(this.#run, ids);
        break;
      case 'steal':
        this.#isolates.get(instruction.worker)?.steal(this.#run, instruction.ids);
        break;
      case 'fetch':
        this.#isolates.get(instruction.worker)?.fetch(this.#run, instruction.ids);
        break;
    }
  }

  #dispatch({ worker, batch, ids, publish, keep, inputs }: Dispatch): void {
    const isolate = this.#isolates.get(worker);
    if (isolate === undefined) return;
    if (this.#observers.results) publish.fill(1);
    const constants = batchConstants(this.#plan, ids);
    this.#observers.sent(ids);
    try {
      const message: Batch = {
        type: 'batch',
        run: this.#run,
        batch,
        ids,
        priority: batchPriority(this.#plan, ids),
        publish,
        keep: this.#observers.results ? NO_IDS : keep,
        ...this.#results.inputs(inputs),
        constants,
        gather: [],
      };
      if (this.#copies === undefined) isolate.dispatch(message);
      else this.#copies.send(worker, message, () => isolate.dispatch(message));
    } catch (error) {
      const failure = argumentError(this.#plan, ids, error);
      const id = failure instanceof TaskError ? this.#plan.ids.get(failure.key) : undefined;
      if (id !== undefined) this.#observers.taskLost(worker, id, TASK_ERRED);
      throw failure;
    }
  }

  #succeed(): void {
    if (this.#settled) return;
    this.#close();
    const thrown = this.#observers.runFinished(undefined);
    if (thrown === undefined) this.#resolve(this.#results.all(this.#plan.requested));
    else this.#reject(thrown);
  }

  #fail(error: unknown): void {
    if (this.#settled) return;
    this.#close();
    this.#reject(this.#observers.runFinished(error ?? new Error(`${error} was thrown`)));
  }

  #close(): void {
    this.#settled = true;
    rememberDurations(this.#plan, this.#scheduler.state.expected);
    clearInterval(this.#timer);
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    for (const isolate of [...this.#indices.keys()]) this.#leave(isolate);
  }

  #leave(isolate: Isolate): void {
    const { index, place } = this.#indices.get(isolate)!;
    this.#indices.delete(isolate);
    this.#isolates.delete(index);
    isolate.close(this.#run);
    if (this.#options.pool.leave(place, this.#options)) this.#observers.spareEnded(index);
  }
}
