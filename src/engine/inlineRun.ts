// Runs a plan on the caller's thread, with the same scheduler as other runs and one worker, which is a loop.
import { attempt, LongpoleError, type TaskError } from '../base/errors.js';
import type { Plan } from '../graph/compile.js';
import { INLINE_WORKER } from '../protocol/clusterObserver.js';
import { type CompletionColumns, completionColumns } from '../protocol/completionLog.js';
import { thrownOf, toErrorInfo } from '../protocol/errorInfo.js';
import type { Graph } from '../protocol/graph.js';
import { KIND_ERROR, kindOf, typeOf } from '../protocol/resultKinds.js';
import type { RunObserver } from '../protocol/runObserver.js';
import { withoutOwnStackFrames } from './ownStackFrames.js';
import { RunObservers } from './runObservers.js';
import { type Place, RunView } from './runView.js';
import type { Dispatch, Instruction, TasksFinished } from './scheduler/events.js';
import { Scheduler } from './scheduler/scheduler.js';
import { schedulerGraph } from './schedulerGraph.js';
import { abortedError, taskError } from './taskFailure.js';
import { type CoreWaits, coreWaitsOfThread } from './worker/coreWaits.js';
import { Evaluator, isThenable, toCallables } from './worker/evaluator.js';
import { epochOffsetMs, isolateClock } from './worker/isolateClock.js';
import { recordedBytes } from './worker/publication.js';
import { cutStacks } from './worker/thrownByTask.js';

export interface InlineOptions {
  readonly observers?: readonly RunObserver[];
  /** Checked between two tasks. */
  readonly signal?: { readonly aborted: boolean; readonly reason: unknown };
}

/** Limits for one batch at a time, because there is only one worker. */
const LIMITS = {
  maxTasks: 2048,
  targetSeconds: Number.POSITIVE_INFINITY,
  maxFollowSeconds: Number.POSITIVE_INFINITY,
  maxBatches: 1,
};
/** The caller's thread. */
const MAIN: Place = { name: INLINE_WORKER, pid: process.pid };
/** Time between two calls of observers without per-task calls, in seconds. */
const PROGRESS_SECONDS = 0.025;

/** Runs all tasks of the plan. Returns the results by task id; results that were not requested are undefined. */
export function runInline(graph: Graph, plan: Plan, options: InlineOptions = {}): readonly unknown[] {
  return new InlineRun(graph, plan, options).run();
}

class InlineRun {
  readonly #plan: Plan;
  readonly #scheduler: Scheduler;
  readonly #results: unknown[];
  /** Number of dependents that have not run, plus 1 for a requested result. At 0 the result is dropped. */
  readonly #uses: Int32Array;
  readonly #evaluator: Evaluator;
  readonly #observers: RunObservers;
  readonly #view: RunView;
  readonly #clock = isolateClock(epochOffsetMs());
  readonly #signal: InlineOptions['signal'];
  /** Ended tasks that observers have not received. */
  readonly #ended: CompletionColumns;
  /** Time at which the batch was sent and received, which is the same moment here. */
  #taken = 0;
  /** Undefined if nothing is recorded. */
  readonly #coreWaits: CoreWaits | undefined;
  /** Reading of `coreWaits` at the start of the current task. */
  #queued = Number.NaN;
  #nextProgress = 0;
  #worker = 0;

  constructor(graph: Graph, plan: Plan, options: InlineOptions) {
    this.#plan = plan;
    this.#signal = options.signal;
    this.#scheduler = new Scheduler(schedulerGraph(plan), { limits: LIMITS, bare: true });
    this.#results = new Array(plan.program.size);
    this.#uses = plan.program.dependentCounts.slice();
    for (let id = 0; id < this.#uses.length; id++) this.#uses[id]! += plan.requested[id]!;
    this.#evaluator = new Evaluator(plan.program, this.#results, toCallables(plan.functions), plan.constants);
    this.#view = new RunView(graph, plan, this.#scheduler.state, (id) => this.#results[id]);
    const { state } = this.#scheduler;
    this.#observers = new RunObservers(options.observers ?? [], this.#view, state, this.#clock);
    this.#ended = completionColumns(this.#observers.records ? LIMITS.maxTasks : 0);
    if (this.#observers.records) this.#coreWaits = coreWaitsOfThread();
  }

  run(): readonly unknown[] {
    try {
      this.#observers.runStarted();
      this.#worker = this.#observers.workerAdded(MAIN);
      let instructions: Instruction[] = this.#scheduler.handle({
        type: 'worker-added',
        worker: this.#worker,
      });
      for (let batch = findDispatch(instructions); batch !== undefined; batch = findDispatch(instructions))
        instructions = this.#runBatch(batch.ids);
    } catch (error) {
      throw this.#observers.runFinished(error ?? new Error(`${error} was thrown`));
    }
    const thrown = this.#observers.runFinished(undefined);
    if (thrown !== undefined) throw thrown;
    return this.#results;
  }

  #runBatch(ids: Int32Array): Instruction[] {
    if (this.#observers.records) {
      this.#observers.sent(ids);
      this.#taken = this.#clock();
    }
    if (this.#observers.perTask) this.#runWatched(ids);
    else if (this.#observers.any || this.#signal !== undefined) this.#runTimed(ids);
    else {
      for (const id of ids) this.#complete(id, this.#evaluate(id));
      return this.#scheduler.handle(this.#finished(ids, 0, ids.length));
    }
    return this.#scheduler.handle(this.#finished(ids, 0, 0));
  }

  /** Runs a batch task by task, so that the scheduler's state is exact at each call of an observer. */
  #runWatched(ids: Int32Array): void {
    for (let index = 0; index < ids.length; index++) {
      const id = ids[index]!;
      if (this.#signal?.aborted) this.#abort();
      this.#observers.taskStarted(id);
      const start = this.#clock();
      const value = this.#evaluate(id, start);
      const stop = this.#clock();
      this.#complete(id, value);
      this.#observers.tick();
      this.#scheduler.finishQuietly(this.#finished(ids, index, index + 1));
      this.#observers.taskFinished(id, value, this.#worker, start, stop);
      this.#note(id, kindOf, value, start, stop);
      this.#notifyEnded();
      this.#observers.progress();
    }
  }

  #runTimed(ids: Int32Array): void {
    let reported = 0;
    let start = this.#clock();
    for (let index = 0; index < ids.length; index++) {
      const id = ids[index]!;
      if (this.#signal?.aborted) {
        this.#notify(ids, reported, index);
        this.#abort();
      }
      let value: unknown;
      try {
        value = this.#evaluate(id, start);
      } catch (error) {
        this.#notify(ids, reported, index);
        throw error;
      }
      this.#complete(id, value);
      const stop = this.#clock();
      this.#note(id, kindOf, value, start, stop);
      start = stop;
      if (start < this.#nextProgress) continue;
      this.#nextProgress = start + PROGRESS_SECONDS;
      this.#notify(ids, reported, index + 1);
      reported = index + 1;
      this.#observers.progress();
      start = this.#clock();
    }
    this.#notify(ids, reported, ids.length);
  }

  /** Reports finished tasks of a batch to the scheduler and the observers. */
  #notify(ids: Int32Array, from: number, to: number): void {
    this.#observers.tick();
    this.#scheduler.finishQuietly(this.#finished(ids, from, to));
    this.#notifyEnded();
  }

  #notifyEnded(): void {
    this.#observers.tasksEnded(this.#worker, this.#ended);
    this.#ended.count = 0;
  }

  /** Records the end of a task for observers. */
  #note(id: number, kindOf: (value: unknown) => number, value: unknown, start: number, stop: number): void {
    if (!this.#observers.records) return;
    const { ids, kinds, types, numbers, received, starts, stops, coreWaits } = this.#ended;
    const row = this.#ended.count++;
    ids[row] = id;
    kinds[row] = kindOf(value);
    types[row] = typeOf(value);
    // A result stays in the program, so it may have getters that throw, which no copy would have.
    numbers[row] =
      kinds[row] === KIND_ERROR ? 0 : attempt(() => recordedBytes(value, stop - start), Number.NaN);
    received[row] = this.#taken;
    starts[row] = start;
    stops[row] = stop;
    coreWaits[row] = this.#coreWaits?.until(this.#queued, start, stop) ?? Number.NaN;
  }

  /** Runs a task. `start`: its start time, if observers need it. */
  #evaluate(id: number, start = Number.NaN): unknown {
    if (this.#coreWaits !== undefined) this.#queued = this.#coreWaits.from(start);
    try {
      const value = this.#evaluator.run(id);
      if (isThenable(value)) {
        // A later rejection of this promise must not end the program as an unhandled rejection.
        value.then(undefined, () => undefined);
        throw this.#asyncError();
      }
      return value;
    } catch (error) {
      this.#scheduler.handle({ type: 'task-erred', worker: this.#worker, id });
      this.#note(id, () => KIND_ERROR, undefined, start, this.#clock());
      this.#notifyEnded();
      throw this.#taskError(id, error);
    }
  }

  #taskError(id: number, thrown: unknown): TaskError {
    try {
      cutStacks(thrown);
      return taskError(this.#plan, id, INLINE_WORKER, thrown);
    } catch {
      // A getter of the thrown value throws.
      return taskError(this.#plan, id, INLINE_WORKER, thrownOf(toErrorInfo(thrown)));
    }
  }

  #asyncError(): LongpoleError {
    const error = new LongpoleError(
      'ERR_LONGPOLE_ASYNC_IN_SYNC',
      'The task returned a promise, and getSync cannot wait for it. Use getThreaded or getMultiprocessing.',
    );
    return withoutOwnStackFrames(error, this.#plan.code);
  }

  #complete(id: number, value: unknown): void {
    const uses = this.#uses;
    if (uses[id]! > 0) this.#results[id] = value;
    const { dependencyOffsets, dependencies } = this.#plan.program;
    const end = dependencyOffsets[id + 1]!;
    for (let edge = dependencyOffsets[id]!; edge < end; edge++) {
      const dependency = dependencies[edge]!;
      if (--uses[dependency]! === 0) this.#results[dependency] = undefined;
    }
  }

  /** Ends the run because its signal is aborted. Call this after the finished tasks were reported. */
  #abort(): void {
    const error = abortedError(this.#signal?.reason, this.#view.finishedCount, this.#plan.program.size);
    this.#observers.cancelled(false);
    throw error;
  }

  #finished(ids: Int32Array, from: number, to: number): TasksFinished {
    return { type: 'tasks-finished', worker: this.#worker, ids, from, to, kinds: null, seconds: null };
  }
}

function findDispatch(instructions: readonly Instruction[]): Dispatch | undefined {
  for (const instruction of instructions) if (instruction.type === 'dispatch') return instruction;
  return undefined;
}
