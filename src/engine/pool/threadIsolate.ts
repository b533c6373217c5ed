// An isolate that is a thread of this process.
import { Worker } from 'node:worker_threads';
import { LongpoleError } from '../../base/errors.js';
import { type CompletionColumns, CompletionLog, completionColumns } from '../../protocol/completionLog.js';
import type { ErrorInfo } from '../../protocol/errorInfo.js';
import type { FromIsolate, IsolateBirth, ToIsolate } from '../../protocol/isolateMessages.js';
import { KIND_ERROR, KIND_VALUE } from '../../protocol/results.js';
import { weighShared } from '../worker/sharedWeight.js';
import { interruptThread } from './interruptThread.js';
import { CLOSE_GRACE_MS, type DispatchedBatch, type Isolate, type RunChannel } from './isolate.js';

/** A run as this side sees it. */
interface ThreadRun {
  readonly channel: RunChannel;
  readonly log: CompletionLog;
  readonly columns: CompletionColumns;
  /** Values and errors that have arrived ahead of their log entries. */
  readonly arrived: Map<number, unknown>;
  readonly failed: Set<number>;
  /** Since when the isolate owes something that it cannot send, because it computes; undefined: it owes nothing. */
  owingSince: number | undefined;
  fetching: boolean;
}

/** How long an isolate may owe something before it is interrupted, in milliseconds. */
const DEBT_MS = 8;

const ENTRY = new URL('../worker/threadMain.js', import.meta.url);

export class ThreadIsolate implements Isolate {
  readonly name: string;
  readonly #worker: Worker;
  readonly #mailbox = new Int32Array(new SharedArrayBuffer(4));
  readonly #runs = new Map<number, ThreadRun>();
  /** Closed runs whose isolate has not let go yet. */
  readonly #closing = new Map<number, { log: CompletionLog; timer: NodeJS.Timeout }>();
  #alive = true;
  #started = false;
  #cause: Error | undefined;
  readonly #gone: () => void;

  /** `gone` is called once, as soon as the thread has ended or is given up. */
  constructor(name: string, epochOffsetMs: number, gone: () => void = () => undefined) {
    this.name = name;
    this.#gone = gone;
    const birth: IsolateBirth = { mailbox: this.#mailbox, epochOffsetMs, name };
    this.#worker = new Worker(ENTRY, { workerData: birth, name });
    this.#worker.unref();
    this.#worker.on('message', (message: FromIsolate) => this.#receive(message));
    this.#worker.on('error', (error: unknown) => {
      this.#cause = error instanceof Error ? error : new Error(String(error));
    });
    this.#worker.on('exit', (code) => this.#exited(code));
  }

  get alive(): boolean {
    return this.#alive;
  }

  open(channel: RunChannel): void {
    const log = new CompletionLog(channel.maxOutstanding);
    this.#runs.set(channel.run, {
      channel,
      log,
      columns: completionColumns(log.capacity),
      arrived: new Map(),
      failed: new Set(),
      owingSince: undefined,
      fetching: false,
    });
    this.#worker.ref();
    const { run, program, functions, claims, wanted } = channel;
    this.#post({ type: 'open', run, program, functions, claims, wanted, log: log.buffer });
  }

  dispatch(run: number, batch: DispatchedBatch): void {
    const { claims, wanted } = this.#channel(run);
    const { batch: number, ids, publish, keep, inputs, constants } = batch;
    for (let index = 0; index < ids.length; index++) {
      claims[ids[index]!] = number;
      wanted[ids[index]!] = publish[index]!;
    }
    for (const id of keep) wanted[id] = 0;
    this.#post({ type: 'batch', run, batch: number, ids, inputs, constants });
  }

  release(run: number, ids: Int32Array): void {
    this.#post({ type: 'release', run, ids });
  }

  fetch(run: number, ids: Int32Array): void {
    this.#post({ type: 'fetch', run, ids });
    const state = this.#runs.get(run);
    if (state !== undefined) state.fetching = true;
    Atomics.store(this.#mailbox, 0, 1);
  }

  steal(run: number, ids: Int32Array): void {
    const { claims, handler } = this.#channel(run);
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
    this.#collectDebt(state);
  }

  /** A task that was expected to be short is not, and the results of those before it were not sent: asks for them. */
  #collectDebt(state: ThreadRun): void {
    const owes = state.log.running >= 0 && (state.log.available > 0 || state.fetching);
    if (!owes) {
      state.owingSince = undefined;
      return;
    }
    const now = performance.now();
    state.owingSince ??= now;
    if (now - state.owingSince < DEBT_MS) return;
    state.owingSince = undefined;
    interruptThread(this.name);
  }

  running(run: number): number {
    return this.#runs.get(run)?.log.running ?? -1;
  }

  close(run: number): void {
    const state = this.#runs.get(run);
    if (state === undefined) return;
    state.log.cancel();
    this.#runs.delete(run);
    if (this.#alive) {
      this.#post({ type: 'close', run });
      const timer = setTimeout(() => this.#checkClosed(run), CLOSE_GRACE_MS);
      timer.unref();
      this.#closing.set(run, { log: state.log, timer });
    }
    if (this.#runs.size === 0) this.#worker.unref();
  }

  terminate(): void {
    void this.#worker.terminate();
    // A thread inside a native call ends only after it. Nobody waits for that: from now on it does not count.
    this.#end(new Error('The worker thread was told to end.'));
  }

  #post(message: ToIsolate): void {
    this.#worker.postMessage(message);
  }

  #channel(run: number): RunChannel {
    const state = this.#runs.get(run);
    if (state === undefined)
      throw new LongpoleError('ERR_LONGPOLE_INTERNAL', `Run ${run} is not open at ${this.name}.`);
    return state.channel;
  }

  #receive(message: FromIsolate): void {
    if (message.type === 'ready') {
      this.#started = true;
      return;
    }
    if (message.type === 'closed') {
      // A task that is being awaited goes on after its run is closed; the grace period is for it too.
      if (this.#closing.get(message.run)?.log.running === -1) this.#forgetClosing(message.run);
      return;
    }
    const state = this.#runs.get(message.run);
    if (state === undefined) return;
    for (const value of message.values.values) weighShared(value);
    if (message.type === 'fetched') {
      state.fetching = false;
      state.channel.handler.fetched(this, message.values, message.missing);
      for (const { id, error } of message.errors) state.channel.handler.fetchFailed(this, id, error);
      return;
    }
    const { ids, values } = message.values;
    for (let index = 0; index < ids.length; index++) state.arrived.set(ids[index]!, values[index]);
    for (const { id, error } of message.errors) this.#noteError(state, id, error);
    this.#drain(state);
  }

  #noteError(state: ThreadRun, id: number, error: ErrorInfo): void {
    state.arrived.set(id, error);
    state.failed.add(id);
  }

  #drain(state: ThreadRun): void {
    const { log, columns, arrived, failed, channel } = state;
    const accept = (id: number, kind: number): boolean =>
      (kind !== KIND_VALUE && kind !== KIND_ERROR) || arrived.has(id);
    for (log.read(columns, accept); columns.count > 0; log.read(columns, accept)) {
      const { kinds, ids, count } = columns;
      if (failed.size > 0)
        for (let index = 0; index < count; index++) if (failed.delete(ids[index]!)) kinds[index] = KIND_ERROR;
      channel.handler.finished(this, columns, arrived);
      if (arrived.size > 0) for (let index = 0; index < count; index++) arrived.delete(ids[index]!);
      if (!this.#runs.has(channel.run)) return;
    }
  }

  #checkClosed(run: number): void {
    // After this thread was blocked, the timer comes before the answer that is waiting: look once more after it.
    setImmediate(() => {
      const closing = this.#closing.get(run);
      if (closing === undefined) return;
      this.terminate();
    }).unref();
  }

  #forgetClosing(run: number): void {
    clearTimeout(this.#closing.get(run)?.timer);
    this.#closing.delete(run);
  }

  #exited(code: number): void {
    this.#end(this.#cause ?? new Error(`The worker thread ended with exit code ${code}.`));
  }

  #end(cause: Error): void {
    if (!this.#alive) return;
    this.#alive = false;
    for (const run of [...this.#closing.keys()]) this.#forgetClosing(run);
    for (const state of [...this.#runs.values()]) {
      this.#drain(state);
      const { running } = state.log;
      this.#runs.delete(state.channel.run);
      state.channel.handler.lost(this, running, this.#started ? cause : startError(this.name, cause));
    }
    this.#gone();
  }
}

function startError(name: string, cause: Error): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_WORKER_START',
    `Worker ${name} could not be started: ${cause.message}`,
    { cause },
  );
}
