// The program of an isolate: takes batches from its host, runs their tasks one after the other, and reports. While a
// task runs nothing can be sent or received, so completions go into shared memory at once, values are sent before any
// task that is not known to be short, and between two tasks the mailbox word is looked at.

import { type ErrorInfo, toErrorInfo } from '../../protocol/errorInfo.js';
import type {
  FromIsolate,
  IsolateBirth,
  RunBatch,
  ToIsolate,
  Values,
} from '../../protocol/isolateMessages.js';
import { NO_VALUES } from '../../protocol/isolateMessages.js';
import { isThenable } from './evaluator.js';
import { isolateClock } from './isolateClock.js';
import { cloneError, IsolateRun, notCloneable } from './isolateRun.js';
import { loadFunctions } from './loadFunctions.js';
import { taskContext } from './taskContext.js';

/** The host hears of completions at least this often, in seconds, as far as tasks end in between. */
const REPORT_SECONDS = 5e-3;
/** A function whose calls have all been shorter than this may run before the values of earlier tasks are sent. */
const SHORT_SECONDS = 1e-3;

/** The host's end of the line. */
export interface HostPort {
  post(message: FromIsolate): void;
  /** The next waiting message, without going back to the event loop. */
  receive(): ToIsolate | undefined;
}

type TaskErrors = readonly { readonly id: number; readonly error: ErrorInfo }[];

/** Where a batch stands: asynchronous tasks interrupt the loop. */
interface BatchProgress {
  readonly batch: RunBatch;
  readonly run: IsolateRun;
  next: number;
}

export class IsolateRuntime {
  readonly #host: HostPort;
  readonly #mailbox: Int32Array;
  readonly #clock: () => number;
  readonly #runs = new Map<number, IsolateRun>();
  readonly #queue: RunBatch[] = [];
  #busy = false;
  #reported = 0;
  #current: BatchProgress | undefined;
  /** A task's own code runs, and nothing of this class. */
  #inTask = false;

  constructor(host: HostPort, birth: IsolateBirth) {
    this.#host = host;
    this.#mailbox = birth.mailbox;
    this.#clock = isolateClock(birth.epochOffsetMs);
    taskContext.worker = birth.name;
  }

  handle(message: ToIsolate): void {
    switch (message.type) {
      case 'open':
        this.#open(message);
        break;
      case 'batch':
        this.#queue.push(message);
        if (!this.#busy) this.#work();
        break;
      case 'release':
        this.#runs.get(message.run)?.release(message.ids);
        break;
      case 'fetch':
        this.#fetch(message.run, message.ids);
        break;
      case 'close':
        this.#runs.delete(message.run);
        this.#host.post({ type: 'closed', run: message.run });
        break;
    }
  }

  /**
   * Called in the middle of a task: sends what is held back and reads the mail. Only while a task's own code runs are
   * the tables of this class sure to be whole.
   */
  interrupt(): void {
    if (!this.#inTask || this.#current === undefined) return;
    const { batch, run } = this.#current;
    if (run.hasUnsent) this.#report(batch.run, run);
    this.#readMail();
  }

  #open(message: Extract<ToIsolate, { type: 'open' }>): void {
    const run = new IsolateRun(message);
    this.#runs.set(message.run, run);
    const functions = loadFunctions(message.functions);
    if (!(functions instanceof Promise)) {
      run.setFunctions(functions);
      return;
    }
    run.ready = functions.then((loaded) => {
      run.setFunctions(loaded);
      run.ready = undefined;
    });
  }

  /** Runs queued batches until there are none or one has to wait; then it goes on when that is over. */
  #work(): void {
    this.#busy = true;
    for (let batch = this.#queue.shift(); batch !== undefined; batch = this.#queue.shift()) {
      const run = this.#runs.get(batch.run);
      if (run === undefined) continue;
      const pending = run.ready ?? this.#runBatch({ batch, run, next: 0 });
      if (pending === undefined) continue;
      if (run.ready !== undefined) this.#queue.unshift(batch);
      // Neither rejects: a task's failure is data, and functions that cannot be loaded are functions that throw.
      void pending.then(() => this.#work());
      return;
    }
    this.#busy = false;
  }

  /** Undefined when the batch is through, a promise when an asynchronous task has to be awaited first. */
  #runBatch(progress: BatchProgress): Promise<void> | undefined {
    const { batch, run } = progress;
    const { ids } = batch;
    this.#current = progress;
    if (progress.next === 0) run.accept(batch);
    let start = this.#clock();
    for (; progress.next < ids.length; progress.next++) {
      const id = ids[progress.next]!;
      if (run.log.cancelled) break;
      if (Atomics.load(this.#mailbox, 0) !== 0) {
        this.#readMail();
        start = this.#clock();
      }
      if (run.hasUnsent && (start - this.#reported > REPORT_SECONDS || !run.isShort(id, SHORT_SECONDS))) {
        this.#report(batch.run, run);
        start = this.#clock();
      }
      if (Atomics.compareExchange(run.claims, id, batch.batch, -batch.batch) !== batch.batch) continue;
      run.log.running = id;
      taskContext.running = true;
      let value: unknown;
      try {
        this.#inTask = true;
        value = run.evaluate(id);
        this.#inTask = false;
        if (isThenable(value)) return this.#await(progress, id, value, start);
      } catch (error) {
        this.#inTask = false;
        taskContext.running = false;
        run.fail(id, error, start, this.#clock());
        start = this.#clock();
        continue;
      }
      taskContext.running = false;
      const stop = this.#clock();
      run.complete(id, value, start, stop);
      start = stop;
      if (stop - this.#reported > REPORT_SECONDS) this.#report(batch.run, run);
    }
    run.log.running = -1;
    this.#report(batch.run, run);
    return undefined;
  }

  async #await(
    progress: BatchProgress,
    id: number,
    promise: PromiseLike<unknown>,
    start: number,
  ): Promise<void> {
    const { batch, run } = progress;
    // Others may wait for what is finished as long as this promise takes.
    this.#report(batch.run, run);
    try {
      const value = await promise;
      run.complete(id, value, start, this.#clock());
    } catch (error) {
      run.fail(id, error, start, this.#clock());
    }
    taskContext.running = false;
    run.log.running = -1;
    progress.next++;
    const pending = this.#runBatch(progress);
    if (pending !== undefined) await pending;
  }

  #report(number: number, run: IsolateRun): void {
    this.#reported = this.#clock();
    if (!run.hasUnsent) {
      this.#host.post({ type: 'report', run: number, values: NO_VALUES, errors: [] });
      return;
    }
    const { values, errors } = run.takeUnsent();
    this.#send(values, errors, (sendable, failed) => ({
      type: 'report',
      run: number,
      values: sendable,
      errors: failed,
    }));
  }

  #fetch(number: number, ids: Int32Array): void {
    const run = this.#runs.get(number);
    if (run === undefined) return;
    const { values, missing } = run.fetch(ids);
    this.#send(values, [], (sendable, errors) => ({
      type: 'fetched',
      run: number,
      missing,
      values: sendable,
      errors,
    }));
  }

  /** Posts values; if they cannot be cloned, finds out which, and posts errors in their place. */
  #send(
    values: Values,
    errors: TaskErrors,
    message: (values: Values, errors: TaskErrors) => FromIsolate,
  ): void {
    try {
      this.#host.post(message(values, errors));
    } catch {
      const ids: number[] = [];
      const good: unknown[] = [];
      const bad = [...errors];
      for (const [index, id] of values.ids.entries()) {
        const error = cloneError(values.values[index]);
        if (error === undefined) {
          ids.push(id);
          good.push(values.values[index]);
        } else {
          bad.push({ id, error: toErrorInfo(notCloneable(error)) });
        }
      }
      this.#host.post(message({ ids: Int32Array.from(ids), values: good }, bad));
    }
  }

  /** Reads what waits in the port between two tasks. Batches go to the queue as usual. */
  #readMail(): void {
    Atomics.store(this.#mailbox, 0, 0);
    for (let message = this.#host.receive(); message !== undefined; message = this.#host.receive())
      this.handle(message);
  }
}
