// The program of an isolate: receives batches from its host, runs their tasks one after the other, and reports.
// Nothing can be sent or received while a task runs. Therefore completions go to shared memory at once, and values
// are sent before any task that is not known to be short. Between two tasks the isolate checks the mailbox word.

import { internalError } from '../../base/errors.js';
import { type Handlers, handle } from '../../base/handlers.js';
import { CompletionLog } from '../../protocol/completionLog.js';
import {
  type FromIsolate,
  type IsolateBirth,
  type LogRef,
  NO_IDS,
  type ToIsolate,
  type UnmeasuredWork,
} from '../../protocol/isolateMessages.js';
import { setCurrentRun } from '../../protocol/mailbox.js';
import { unpackBatch } from '../../protocol/shortMessages.js';
import { STAYED, type TaskAway, type TaskRun } from '../../protocol/taskRun.js';
import { Vitals } from '../../resources/vitals.js';
import { Outbox } from '../pool/outbox.js';
import { connectScheduler, SchedulerLink } from './askScheduler.js';
import { AsyncTask, type BatchProgress } from './asyncTask.js';
import { AsyncTasks } from './asyncTasks.js';
import { BatchQueue } from './batchQueue.js';
import { collectGarbage } from './collectGarbage.js';
import { coreWaitsOfThread } from './coreWaits.js';
import { isThenable } from './evaluator.js';
import { HostCalls } from './hostCalls.js';
import { briefBatch, type IsolateStanding } from './inspectorHooks.js';
import { isolateClock } from './isolateClock.js';
import { IsolateMetrics } from './isolateMetrics.js';
import { type HostPort, IsolateReports } from './isolateReports.js';
import { type IsolateMemory, IsolateRun } from './isolateRun.js';
import { loadFunctions } from './loadFunctions.js';
import { reportNestedGraphs } from './nestedGraphs.js';
import { slowCopies } from './slowCopies.js';
import { taskContext } from './taskContext.js';
import { taskHook } from './taskHook.js';
import type { TaskMeter } from './taskMeter.js';
import type { Outcome } from './taskMetering.js';
import { threadCpuClock } from './threadCpuClock.js';

/** Seconds between reports to the host, unless a single task takes longer. */
const REPORT_SECONDS = 5e-3;
/** If all recent calls of a function were shorter than this, it may run before the values of earlier tasks are sent. */
const SHORT_SECONDS = 1e-3;
/** Seconds from which an import is reported for runs that are not measured. */
const LONG_IMPORT = 0.1;

export class IsolateRuntime {
  readonly #host: HostPort;
  readonly #outbox: Outbox<FromIsolate>;
  /** Number of a log → the log and the memory beside it. */
  readonly #memories: IsolateMemory[] = [];
  readonly #mailbox: Int32Array;
  readonly #clock: () => number;
  readonly #vitals: Vitals;
  /** Undefined if nothing is measured here. */
  readonly #metrics: IsolateMetrics | undefined;
  readonly #coreWaits = coreWaitsOfThread();
  readonly #runs = new Map<number, IsolateRun>();
  readonly #queue = new BatchQueue();
  #busy = false;
  readonly #calls: HostCalls;
  readonly #reports: IsolateReports;
  /** The batch from its start to its end, also while one of its tasks awaits. */
  #current: BatchProgress | undefined;
  /** The record of the last task. It is reused, so that none is allocated per task. */
  readonly #lastRun: TaskRun = {
    id: 0,
    batch: 0,
    received: 0,
    start: 0,
    stop: 0,
    coreWait: Number.NaN,
    ...STAYED,
  };
  /** True while a task's own code runs, and no method of this class. */
  #inTask = false;
  /** Time up to which imports were counted: runs that wait for the same modules share it. */
  #importedUpTo = 0;
  readonly #link: SchedulerLink;
  readonly #async: AsyncTasks;

  readonly #handlers: Handlers<ToIsolate> = {
    several: ({ messages }) => {
      for (const each of messages) this.handle(each);
    },
    open: (message) => this.#open(message),
    batch: (message) => {
      const batch = unpackBatch(message);
      this.#queue.push(batch);
      this.#runs.get(batch.run)?.arrived(batch);
      if (!this.#busy) this.#work();
    },
    release: ({ run, ids }) => this.#runs.get(run)?.release(ids),
    evict: ({ run, ids }) => this.#evict(run, ids),
    fetch: ({ run: number, ids }) => {
      const run = this.#runs.get(number);
      if (run !== undefined) this.#reports.fetch(number, run, ids);
    },
    collect: () => {
      collectGarbage();
      this.#vitals.refresh(Number.POSITIVE_INFINITY);
    },
    call: (message) => this.#calls.take(message),
    answer: ({ answer }) => this.#link.answered(answer),
    close: ({ run }) => {
      const closing = this.#runs.get(run);
      this.#runs.delete(run);
      if (closing !== undefined) this.#async.closed(closing);
      this.#outbox.postLater({ type: 'closed', run, freeLog: closing?.close() });
    },
  };

  constructor(host: HostPort, birth: IsolateBirth) {
    this.#host = host;
    const post = (message: FromIsolate): void => this.#outbox.post(message);
    this.#outbox = new Outbox<FromIsolate>(host.post);
    this.#mailbox = birth.mailbox;
    this.#clock = isolateClock(birth.epochOffsetMs);
    const cpuClock = birth.metered ? threadCpuClock() : undefined;
    this.#vitals = new Vitals(birth.vitals, cpuClock);
    // A busy isolate sends its measurements with a report.
    const collected = (): void => void (this.#busy || this.#reports.sendMetrics());
    if (birth.metered) this.#metrics = new IsolateMetrics(this.#clock, cpuClock, collected);
    this.#reports = new IsolateReports({
      post,
      clock: this.#clock,
      vitals: this.#vitals,
      metrics: this.#metrics,
    });
    taskContext.worker = birth.name;
    reportNestedGraphs(this.#clock, () => (this.#async.away > 0 ? undefined : this.#current), this.#worked);
    this.#calls = new HostCalls(post);
    this.#link = new SchedulerLink(post, (task) => this.#async.secede(task));
    if (birth.asks) connectScheduler(this.#link);
    this.#async = new AsyncTasks({
      clock: this.#clock,
      isOpen: ({ batch, run }) => this.#runs.get(batch.run) === run,
      ended: (task, start, stop, outcome) => {
        const { parts } = task;
        const slot = task.isAway ? { ...parts, queued: Number.NaN } : parts;
        return this.#ended(slot, parts.id, parts.meter, start, stop, outcome, task.away(stop));
      },
      left: ({ parts: { id, batch, meter } }) => {
        this.#reports.now();
        if (meter === undefined) post({ type: 'seceded', run: batch.run, id, batch: batch.batch });
        // The scheduler's process ends the question with the task, so the answer may be an error.
        else void this.#link.ask('secede', meter, { batch: batch.batch }).catch(() => undefined);
      },
      endedOutside: ({ batch, run }) => this.#reports.report(batch.run, run, !this.#busy),
    });
  }

  /** Seconds since the epoch. */
  now(): number {
    return this.#clock();
  }

  handle(message: ToIsolate): void {
    handle(this.#handlers, message.type, message);
  }

  /**
   * Called in the middle of a task: updates the memory figures, sends delayed values and reads messages. The tables
   * of this class are consistent only while a task's own code runs.
   */
  interrupt(): void {
    this.#vitals.refresh(Number.POSITIVE_INFINITY);
    if (!this.#inTask || this.#current === undefined) return;
    const { batch, run } = this.#current;
    if (run.hasUnsent) this.#reports.report(batch.run, run);
    this.#readMail();
  }

  /** Returns the state of the isolate for the dump of a cluster. */
  standing(): IsolateStanding {
    const { batch, next = 0 } = this.#current ?? {};
    return {
      busy: this.#busy,
      inTask: this.#inTask,
      current: batch === undefined ? null : { ...briefBatch(batch), next },
      queue: this.#queue.waiting.map(briefBatch),
      runs: Array.from(this.#runs, ([run, { ready }]) => ({ run, loaded: ready === undefined })),
    };
  }

  #open(message: Extract<ToIsolate, { type: 'open' }>): void {
    const { kinds } = message;
    const opened = this.#clock();
    const queued = this.#coreWaits.from(opened);
    const metered = kinds && this.#metrics?.run(message.run, kinds);
    const timer = metered ?? slowCopies(message.run, this.#clock, this.#worked);
    const run = new IsolateRun(message, this.#memoryOf(message.log), metered, timer);
    this.#runs.set(message.run, run);
    const functions = loadFunctions(message.functions);
    if (!(functions instanceof Promise)) {
      run.setFunctions(functions);
      return;
    }
    run.ready = functions.then((loaded) => {
      this.#imported(message.run, run, opened, queued);
      run.setFunctions(loaded);
      run.ready = undefined;
    });
  }

  /** Reports work that is not measured with the next message. */
  readonly #worked = (work: UnmeasuredWork): void => this.#outbox.postLater({ type: 'worked', work });

  #memoryOf({ number, memory }: LogRef): IsolateMemory {
    const known = number === undefined ? undefined : this.#memories[number];
    if (known !== undefined) return known;
    if (memory === undefined) throw internalError('A run without memory was opened.');
    const { buffer, claims, wanted } = memory;
    const made = { log: new CompletionLog(buffer), claims, wanted };
    if (number !== undefined) this.#memories[number] = made;
    return made;
  }

  /**
   * The modules of a run's functions were imported. While a batch runs, its tasks have the time. Waits for a core since the reading
   * `queued` do not count, if they are measured. As many of them as possible are taken to be in the time that counted before.
   */
  #imported(number: number, { metered }: IsolateRun, since: number, queued: number): void {
    const now = this.#clock();
    const counted = Math.max(since, this.#reports.last, this.#importedUpTo);
    const waited = this.#coreWaits.until(queued, since, now) || 0;
    const seconds =
      this.#current === undefined ? Math.max(0, Math.min(now - counted, now - since - waited)) : 0;
    if (metered !== undefined) metered.importSeconds = seconds;
    else if (seconds >= LONG_IMPORT)
      this.#worked({ action: 'import', start: now - seconds, stop: now, run: number, id: -1, nbytes: 0 });
    this.#importedUpTo = now;
  }

  /** Runs queued batches until there are none, or one has to wait. Continues after the wait. */
  #work(): void {
    this.#busy = true;
    for (let batch = this.#queue.next(); batch !== undefined; batch = this.#queue.next()) {
      const run = this.#runs.get(batch.run);
      if (run === undefined) continue;
      const unready = this.#calls.settingUp ?? run.ready;
      if (unready !== undefined) {
        this.#queue.putBack(batch);
        // Never rejects: a function that cannot be loaded throws when it is called.
        void unready.then(() => this.#work());
        return;
      }
      if (this.#continue({ batch, run, next: 0, received: this.#clock(), queued: Number.NaN })) return;
      if (this.#async.away === 0 || this.#queue.length === 0) continue;
      // The code of seceded tasks continues between two batches.
      setImmediate(() => this.#work());
      return;
    }
    this.#busy = false;
  }

  /** Runs the rest of a batch. Returns whether an asynchronous task holds the slot; the work continues at its end. */
  #continue(progress: BatchProgress): boolean {
    const pending = this.#runBatch(progress);
    // Never rejects: a task's failure is data.
    void pending?.then(() => {
      progress.next++;
      if (!this.#continue(progress)) this.#work();
    });
    return pending !== undefined;
  }

  /** Returns undefined when the batch is finished, or the promise of an asynchronous task. */
  #runBatch(progress: BatchProgress): Promise<void> | undefined {
    const { batch, run } = progress;
    const { ids } = batch;
    this.#current = progress;
    setCurrentRun(this.#mailbox, batch.run);
    run.metered?.enterBatch(ids[progress.next] ?? 0);
    if (progress.next === 0) run.accept(batch);
    let start = this.#clock();
    if (start - this.#reports.last > REPORT_SECONDS) this.#reports.now();
    for (; progress.next < ids.length; progress.next++) {
      const id = ids[progress.next]!;
      if (Atomics.load(this.#mailbox, 0) !== 0) {
        this.#readMail();
        start = this.#clock();
      }
      // Checked after the mail, because a task that starts in a closed run would write to the log of another run.
      if (run.isCancelled) break;
      if (this.#queue.isUrgent) {
        this.#queue.putBack(batch, progress.next);
        break;
      }
      const holdsBack = run.hasUnsent || this.#outbox.isHolding;
      if (holdsBack && (start - this.#reports.last > REPORT_SECONDS || !run.isShort(id, SHORT_SECONDS))) {
        if (run.hasUnsent) this.#reportBetween(progress, id, start);
        else this.#outbox.flush();
        start = this.#clock();
      }
      if (Atomics.compareExchange(run.claims, id, batch.batch, -batch.batch) !== batch.batch) continue;
      if (run.isBlocked(id)) {
        run.skip(id, batch.batch, progress.received, start);
        continue;
      }
      run.log.begin(id, batch.batch, start);
      taskContext.running++;
      let value: unknown;
      const meter = run.metered?.begin(id, start);
      progress.queued = this.#coreWaits.from(start);
      try {
        taskHook.current?.before(run.labelOf(id));
        this.#inTask = true;
        value = run.evaluate(id);
        this.#inTask = false;
        if (isThenable(value)) {
          return this.#await(progress, id, start, meter, value);
        }
        taskHook.current?.after(false);
      } catch (error) {
        this.#inTask = false;
        taskContext.running--;
        taskHook.current?.after(true);
        run.fail(error, this.#ended(progress, id, meter, start, this.#clock(), 'failed'));
        start = this.#clock();
        continue;
      }
      taskContext.running--;
      const stop = this.#clock();
      run.complete(value, this.#ended(progress, id, meter, start, stop, 'done'));
      // The time for packing a value must not count for the next task.
      start = run.hasUnsent ? this.#clock() : stop;
      if (stop - this.#reports.last > REPORT_SECONDS) this.#reportBetween(progress, id, start);
    }
    run.metered?.leaveBatch(ids[0] ?? 0, this.#clock());
    this.#reports.report(batch.run, run, this.#queue.length === 0);
    this.#current = undefined;
    if (run.isLeaving) this.#evict(batch.run, NO_IDS);
    return undefined;
  }

  /** Continues with the batch when the asynchronous task has ended or seceded. */
  async #await(
    progress: BatchProgress,
    id: number,
    start: number,
    meter: TaskMeter | undefined,
    promise: PromiseLike<unknown>,
  ): Promise<void> {
    const { batch, run, received, queued } = progress;
    run.metered?.leaveBatch(id, start);
    this.#reports.soon(batch.run, run);
    const parts = { batch, run, id, received, queued, start, meter, promise };
    await this.#async.run(new AsyncTask(parts, this.#clock()));
  }

  /** Ends the task: fills the record of its run, which is valid until the next task ends. */
  #ended(
    { batch, run, received, queued }: Omit<BatchProgress, 'next'>,
    id: number,
    meter: TaskMeter | undefined,
    start: number,
    stop: number,
    outcome: Outcome,
    { seceded, resumed, waited }: TaskAway = STAYED,
  ): TaskRun {
    const ended = this.#lastRun;
    ended.id = id;
    ended.batch = batch.batch;
    ended.received = received;
    ended.start = start;
    ended.stop = stop;
    ended.coreWait = this.#coreWaits.until(queued, start, stop);
    ended.seceded = seceded;
    ended.resumed = resumed;
    ended.waited = waited;
    run.metered?.end(meter, ended, run.isUnwanted(id, batch.batch) ? 'cancelled' : outcome);
    return ended;
  }

  /** Reports in the middle of a batch. Work up to `now` belongs to its task `id`. */
  #reportBetween({ batch, run }: BatchProgress, id: number, now: number): void {
    run.metered?.leaveBatch(id, now);
    this.#reports.report(batch.run, run);
  }

  #evict(number: number, ids: Int32Array): void {
    const run = this.#runs.get(number);
    if (run === undefined) return;
    const queued = this.#queue.waiting.filter((batch) => batch.run === number);
    run.evict(ids, queued, this.#current?.run === run ? this.#current.batch : undefined);
  }

  /** Reads waiting messages between two tasks. Batches go to the queue as usual. */
  #readMail(): void {
    Atomics.store(this.#mailbox, 0, 0);
    for (let message = this.#host.receive(); message !== undefined; message = this.#host.receive())
      this.handle(message);
  }
}
