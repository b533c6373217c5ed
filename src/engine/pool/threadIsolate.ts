// An isolate that is a thread of this process.
import { internalError } from '../../base/errors.js';
import { type Handlers, handle } from '../../base/handlers.js';
import type { FunctionRef } from '../../protocol/functionRef.js';
import type {
  Batch,
  Fetched,
  FromIsolate,
  IsolateBirth,
  IsolateMeasures,
  Report,
  ToIsolate,
} from '../../protocol/isolateMessages.js';
import { currentRunOf, makeMailbox, NATIVE_CELL } from '../../protocol/mailbox.js';
import type { TaskAnswer, TaskAnswerError } from '../../protocol/questions.js';
import { isSeparate, KIND_ERROR } from '../../protocol/resultKinds.js';
import { packBatch } from '../../protocol/shortMessages.js';
import type { ExecutingTask, RunTask } from '../../protocol/workerMessages.js';
import { guardThread, isEnding } from '../../resources/nativeGuard.js';
import { makeVitals } from '../../resources/vitals.js';
import { announceThread } from '../profiler/threadInspector.js';
import { threadError, workerStartError } from '../taskFailure.js';
import { weighShared } from '../worker/sharedWeight.js';
import { ClosingRuns } from './closingRuns.js';
import { GracePeriod, threadUse } from './gracePeriod.js';
import { type Isolate, type OtherTask, otherTask, type RunHandler, type RunSpec } from './isolate.js';
import { dumpThread, type IsolateDump, secondsSinceTurn } from './isolateDump.js';
import { type IsolateThread, startThread, type ThreadIsolateOptions } from './isolateThread.js';
import { IsolateWatch } from './isolateWatch.js';
import { MessageLog } from './messageLog.js';
import { Outbox } from './outbox.js';
import { PendingCalls } from './pendingCalls.js';
import { RunLogs } from './runLogs.js';
import { interruptThread, stopThread } from './threadControl.js';
import {
  addArrived,
  briefRun,
  executingIn,
  isOverdue,
  newThreadRun,
  openMessage,
  type ThreadRun,
} from './threadRun.js';

/** Polls with a turn of the event loop after which an untaken call is rejected; about a minute. */
const MAX_TURNS = 60;

/**
 * Time without a turn after which an isolate counts as busy, in seconds. The event loop of an idle one turns ten times
 * a second.
 */
const IDLE_TURN_SECONDS = 1;

export class ThreadIsolate implements Isolate {
  readonly name: string;
  readonly pid = process.pid;
  readonly #worker: IsolateThread;
  readonly #mailbox = makeMailbox();
  /** See VITALS of isolateMessages. */
  readonly vitals = makeVitals();
  readonly grace = new GracePeriod(() => threadUse(this.vitals));
  readyAt = Number.NaN;
  /** Resolves when the thread's program runs, or the thread has ended. */
  readonly started: Promise<void>;
  #start: () => void = () => undefined;
  readonly #calls = new PendingCalls(MAX_TURNS);
  readonly #runs = new Map<number, ThreadRun>();
  readonly #sent = new MessageLog();
  readonly #received = new MessageLog();
  readonly #outbox = new Outbox<ToIsolate>((message) => {
    this.#worker.postMessage(message);
    this.#sent.note(message);
  });
  readonly #logs = new RunLogs();
  /** Runs that are closed here and not yet in the isolate, or that still have asynchronous tasks. */
  readonly #closing = new ClosingRuns(
    this.grace,
    () => this.#isUsed && (this.#turns || this.#executingOpen !== undefined),
    () => this.terminate(),
  );
  alive = true;
  #openings = 0;
  /** Whether batches of the open runs may differ in priority. */
  #isRanked = false;
  #exitedThread = false;
  #cause: Error | undefined;
  readonly #watch: IsolateWatch;
  readonly #options: ThreadIsolateOptions;

  readonly #handlers: Handlers<FromIsolate> = {
    ready: ({ time }) => {
      this.readyAt = time;
      this.#start();
    },
    several: ({ messages }) => {
      for (const each of messages) handle(this.#handlers, each.type, each);
    },
    closed: ({ run, freeLog }) => {
      this.#closing.closed(run);
      this.#logs.release(freeLog);
    },
    'call-taken': ({ call }) => this.#calls.taken(call),
    called: (message) => this.#calls.answer(message),
    measured: ({ measures }) => this.#take(measures),
    worked: ({ work }) => this.#runs.get(work.run)?.handler.worked?.(this, work),
    seceded: ({ run, id, batch }) => this.#runs.get(run)?.handler.seceded?.(this, id, batch),
    ask: ({ question }) => {
      if (this.alive) this.#options.asked?.(question);
    },
    report: (message) => this.#ofRun(message),
    fetched: (message) => this.#ofRun(message),
  };

  constructor(name: string, epochOffsetMs: number, options: ThreadIsolateOptions = {}) {
    const { start = startThread } = options;
    this.name = name;
    this.#options = options;
    const birth: IsolateBirth = {
      mailbox: this.#mailbox,
      vitals: this.vitals,
      epochOffsetMs,
      name,
      metered: options.measured !== undefined,
      asks: options.asked !== undefined,
    };
    this.started = new Promise((resolve) => {
      this.#start = resolve;
    });
    announceThread(name, () => isEnding({ cells: this.#mailbox, index: NATIVE_CELL }));
    this.#worker = start(birth);
    this.#worker.on('message', (message: FromIsolate) => this.#receive(message));
    this.#worker.on('error', (error: unknown) => {
      this.#cause = threadError(error);
    });
    this.#worker.on('messageerror', (error: unknown) => {
      this.terminate(
        new Error(`A message from the worker could not be read: ${String(error)}`, { cause: error }),
      );
    });
    const unguard = guardThread({ cells: this.#mailbox, index: NATIVE_CELL });
    this.#worker.on('exit', (code) => {
      unguard();
      this.#exited(code);
    });
    this.#watch = new IsolateWatch(this, this.#calls);
    // This comes last, because listening to messages refs the thread.
    this.#worker.unref();
  }

  get isFree(): boolean {
    return this.#runs.size === 0 && this.executing === undefined;
  }

  /** Whether the isolate starts, computes or runs a call, rather than wait for messages. */
  get isOccupied(): boolean {
    return !(this.readyAt >= 0) || this.#calls.size > 0 || !this.#turns;
  }

  /** Whether runs use the isolate. That of a cluster's worker is kept for its plugins and the state of its modules. */
  get #isUsed(): boolean {
    return this.#runs.size > 0 || this.#options.asked !== undefined;
  }

  get #turns(): boolean {
    return (secondsSinceTurn(this.vitals) ?? Number.POSITIVE_INFINITY) <= IDLE_TURN_SECONDS;
  }

  /** Returns the claims of the run, see RunMemory. */
  open(spec: RunSpec, handler: RunHandler): Int32Array {
    const log = this.#logs.open(spec.program.size, spec.maxOutstanding);
    const state = newThreadRun(spec, handler, ++this.#openings, log);
    this.#runs.set(spec.run, state);
    this.#worker.ref();
    this.#outbox.postLater(openMessage(state, this.#options.measured !== undefined));
    return log.claims;
  }

  dispatch(batch: Batch): void {
    const state = this.#state(batch.run);
    const { claims, wanted } = state;
    const { ids, publish, keep, priority = 0 } = batch;
    for (let index = 0; index < ids.length; index++) {
      claims[ids[index]!] = batch.batch;
      wanted[ids[index]!] = publish[index]!;
    }
    for (const id of keep) wanted[id] = 0;
    this.#outbox.post(packBatch(batch));
    state.priority = priority;
    if (state.priority !== 0) this.#isRanked = true;
    // It may be more urgent than the rest of a batch of another run.
    if (this.#isRanked) Atomics.store(this.#mailbox, 0, 1);
  }

  release(run: number, ids: Int32Array): void {
    this.#outbox.post({ type: 'release', run, ids });
  }

  /** Makes the isolate drop its copies of results, except those that its queued tasks need. */
  evict(run: number, ids: Int32Array): void {
    this.#outbox.post({ type: 'evict', run, ids });
    Atomics.store(this.#mailbox, 0, 1);
  }

  /** Collects garbage in the isolate, also during a long task. */
  collect(): void {
    this.#outbox.post({ type: 'collect' });
    Atomics.store(this.#mailbox, 0, 1);
    this.interrupt();
  }

  /** Makes the isolate read its messages and update its vitals during a task. Between tasks it does both by itself. */
  interrupt(): void {
    if (this.#executingOpen !== undefined) interruptThread(this.name);
  }

  /**
   * Calls a function in the isolate, at once, between two tasks, or during a long task.
   *
   * @param tasksWait whether batches that are sent later wait for the end of the call
   * @returns (resolves) the return value
   * @throws (rejects) the error of the function, ERR_LONGPOLE_NOT_CLONEABLE if the argument cannot be copied, or
   *   ERR_LONGPOLE_WORKER_LOST if the isolate ends before it answers
   */
  call(fn: FunctionRef, argument: unknown, tasksWait = false): Promise<unknown> {
    const answer = this.#calls.ask(this.name, `call ${fn.name}`, (call) => {
      this.#outbox.post({ type: 'call', call, fn, argument, tasksWait });
      Atomics.store(this.#mailbox, 0, 1);
      this.interrupt();
    });
    if (this.alive) this.#watch.watch();
    this.#worker.ref();
    return answer.finally(() => this.#unrefIfIdle());
  }

  /** Answers a question of a task, also between two other tasks. */
  answer(answer: TaskAnswer | TaskAnswerError): void {
    this.#outbox.post({ type: 'answer', answer });
    Atomics.store(this.#mailbox, 0, 1);
  }

  fetch(run: number, ids: Int32Array): void {
    this.#outbox.post({ type: 'fetch', run, ids });
    const state = this.#runs.get(run);
    if (state !== undefined) state.fetching = true;
    Atomics.store(this.#mailbox, 0, 1);
  }

  steal(run: number, ids: Int32Array): void {
    const { claims, handler } = this.#state(run);
    const stolen: number[] = [];
    for (const id of ids) {
      const batch = Atomics.load(claims, id);
      if (batch > 0 && Atomics.compareExchange(claims, id, batch, 0) === batch) stolen.push(id);
    }
    handler.stolen(this, stolen);
  }

  poll(run: number): void {
    const state = this.#runs.get(run);
    if (state === undefined) return;
    this.#drain(state);
    if (isOverdue(state, this.#calls.untaken)) interruptThread(this.name);
  }

  runningOther(run: number): OtherTask | undefined {
    return otherTask(this.executing, this.#runs, run);
  }

  get executing(): ExecutingTask | undefined {
    return this.#executingOpen ?? this.#closing.executing(this.currentRun);
  }

  get #executingOpen(): ExecutingTask | undefined {
    return executingIn(this.currentRun, this.#runs.get(this.currentRun)?.log);
  }

  /** The run whose batch the thread has begun or continued last: no other run has a running task. */
  get currentRun(): number {
    return currentRunOf(this.#mailbox);
  }

  /** Returns the state of the isolate with the stack of its thread. Takes a second if the thread does not answer. */
  dump(): Promise<IsolateDump> {
    const runs = Array.from(this.#runs, briefRun);
    const state = this.alive ? (this.readyAt >= 0 ? 'running' : 'starting') : 'ended';
    const messages = {
      calls: this.#calls.dump(),
      sent: this.#sent.dump(),
      received: this.#received.dump(),
    };
    return dumpThread({ thread: this.name, state, runs, ...messages }, this.vitals, this.#mailbox);
  }

  /** Cancels the tasks that have not begun. Returns the others with their batches; some of them may have ended. */
  cancel(run: number, ids: Int32Array): Omit<RunTask, 'run'>[] {
    const { claims } = this.#state(run);
    const claimed = Array.from(ids, (id) => ({ id, batch: -Atomics.exchange(claims, id, 0) }));
    return claimed.filter(({ batch }) => batch > 0);
  }

  close(run: number): void {
    const state = this.#runs.get(run);
    if (state === undefined) return;
    state.log.cancel();
    this.#runs.delete(run);
    if (this.#runs.size === 0) this.#isRanked = false;
    if (this.alive) {
      this.#outbox.postLater({ type: 'close', run });
      this.#closing.add(run, state.log);
    }
    this.#unrefIfIdle();
  }

  terminate(cause = new Error('The worker thread was terminated.')): void {
    const terminate = (): void => void this.#worker.terminate();
    stopThread(this.name, this.#mailbox, terminate, () => this.#exitedThread);
    // A thread inside a native call ends only after the call. The isolate counts as ended from now on.
    this.#end(cause);
  }

  /** Unrefs an idle thread, which must not keep the program alive. */
  #unrefIfIdle(): void {
    if (this.#runs.size === 0 && this.#calls.size === 0) this.#worker.unref();
  }

  #state(run: number): ThreadRun {
    const state = this.#runs.get(run);
    if (state === undefined) throw internalError(`Run ${run} is not open at worker ${this.name}.`);
    return state;
  }

  #receive(message: FromIsolate): void {
    this.#received.note(message);
    handle(this.#handlers, message.type, message);
  }

  #ofRun(message: Report | Fetched): void {
    if (message.type === 'report' && message.measures !== undefined) this.#take(message.measures);
    const state = this.#runs.get(message.run);
    if (state?.opening !== message.opening) return;
    for (const value of message.values?.values ?? []) weighShared(value);
    if (message.type === 'fetched') {
      this.#fetched(state, message);
      return;
    }
    addArrived(state, message);
    this.#drain(state);
  }

  /** Reports measurements. Those that arrive after the end of the isolate were already counted at its end. */
  #take(measures: IsolateMeasures): void {
    if (this.alive) this.#options.measured?.(measures);
  }

  #fetched(state: ThreadRun, { values, missing, packed, errors }: Fetched): void {
    state.fetching = false;
    state.handler.fetched(this, values, missing, packed);
    for (const { id, error } of errors) state.handler.fetchFailed(this, id, error);
  }

  #drain(state: ThreadRun): void {
    const { log, columns, arrived, failed, spec, handler } = state;
    for (log.read(columns, state.covered); columns.count > 0; log.read(columns, state.covered)) {
      const { kinds, ids, count } = columns;
      if (failed.size > 0)
        for (let index = 0; index < count; index++)
          if (isSeparate(kinds[index]!) && failed.delete(ids[index]!)) kinds[index] = KIND_ERROR;
      handler.finished(this, columns, arrived);
      if (arrived.size > 0) for (let index = 0; index < count; index++) arrived.delete(ids[index]!);
      if (!this.#runs.has(spec.run)) return;
    }
  }

  #exited(code: number): void {
    this.#exitedThread = true;
    this.#end(this.#cause ?? new Error(`The worker thread ended with exit code ${code}.`));
  }

  #end(cause: Error): void {
    if (!this.alive) return;
    const { executing } = this;
    const why = this.readyAt >= 0 ? cause : workerStartError(this.name, cause);
    this.alive = false;
    this.#start();
    this.#watch.close();
    this.#closing.clear();
    this.#calls.abandon(this.name, cause);
    for (const state of [...this.#runs.values()]) {
      this.#drain(state);
      const { running } = state.log;
      this.#runs.delete(state.spec.run);
      state.handler.lost(this, running, why);
    }
    this.#options.gone?.(executing, why);
  }
}
