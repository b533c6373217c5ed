// The program of an isolate: receives batches from its host, runs their tasks one after the other, and reports.
// Nothing can be sent or received while a task runs. Therefore completions go to shared memory at once, and values
// are sent before any task that is not known to be short. Between two tasks the isolate checks the mailbox word.

import {
  type FromIsolate,
  type IsolateBirth,
  type IsolateMeasures,
  NO_IDS,
  NO_PACKED,
  NO_VALUES,
  NOTHING_MEASURED,
  type RunBatch,
  type ToIsolate,
} from '../../protocol/isolateMessages.js';
import { packedBytes } from '../../protocol/packedResult.js';
import { Vitals } from '../../resources/vitals.js';
import { answerCall } from './answerCall.js';
import { connectScheduler, SchedulerLink } from './askScheduler.js';
import { collectGarbage } from './collectGarbage.js';
import { CoreWaits } from './coreWaits.js';
import type { IsolateStanding } from './dumpHook.js';
import { isThenable } from './evaluator.js';
import { isolateClock } from './isolateClock.js';
import { IsolateMetrics } from './isolateMetrics.js';
import { IsolateRun, notCloneable, type TaskRun, type Unsent } from './isolateRun.js';
import { loadFunctions } from './loadFunctions.js';
import { PythonCall } from './pythonCall.js';
import { splitValues } from './splitValues.js';
import { taskContext } from './taskContext.js';
import { taskHook } from './taskHook.js';
import type { TaskMeter } from './taskMeter.js';
import type { Outcome } from './taskMetering.js';

/** Seconds between reports to the host, unless a single task takes longer. */
const REPORT_SECONDS = 5e-3;
/** If all recent calls of a function were shorter than this, it may run before the values of earlier tasks are sent. */
const SHORT_SECONDS = 1e-3;

/** The isolate's connection to its host. */
export interface HostPort {
  post(message: FromIsolate): void;
  /** Returns the next waiting message without a turn of the event loop. */
  receive(): ToIsolate | undefined;
}

/** Progress of a batch, which asynchronous tasks interrupt. */
interface BatchProgress {
  readonly batch: RunBatch;
  readonly run: IsolateRun;
  next: number;
  /** Time at which the batch was received, in seconds since the epoch. */
  received: number;
  /** Reading of `CoreWaits` at the start of the current task. */
  queued: number;
}

/** Returns the seconds in which this isolate's event loop was idle. A reading costs 0.4 µs. */
function idleSeconds(): number {
  return performance.eventLoopUtilization().idle / 1000;
}

/** Returns the start of a task. A call of Python may have waited for a thread of Dask before. */
function startOf(call: PythonCall | undefined, start: number, stop: number): number {
  const seconds = call?.secondsSinceStart ?? Number.NaN;
  return Number.isNaN(seconds) ? start : Math.max(start, stop - seconds);
}

export class IsolateRuntime {
  readonly #host: HostPort;
  readonly #mailbox: Int32Array;
  readonly #clock: () => number;
  readonly #vitals: Vitals;
  /** Undefined if nothing is measured here. */
  readonly #metrics: IsolateMetrics | undefined;
  readonly #coreWaits = CoreWaits.ofThread();
  readonly #runs = new Map<number, IsolateRun>();
  readonly #queue: RunBatch[] = [];
  #busy = false;
  #reported = 0;
  #current: BatchProgress | undefined;
  /** The record of the last task. It is reused, so that none is allocated per task. */
  readonly #lastRun: TaskRun = { id: 0, received: 0, start: 0, stop: 0, coreWait: Number.NaN };
  /** True while a task's own code runs, and no method of this class. */
  #inTask = false;
  /** True from the start of a batch to its end, also while one of its tasks awaits. */
  #inBatch = false;
  /** Time up to which imports were counted: runs that wait for the same modules share it. */
  #importedUpTo = 0;
  readonly #link: SchedulerLink;

  constructor(host: HostPort, birth: IsolateBirth) {
    this.#host = host;
    this.#mailbox = birth.mailbox;
    this.#clock = isolateClock(birth.epochOffsetMs);
    this.#vitals = new Vitals(birth.vitals);
    if (birth.metered)
      this.#metrics = new IsolateMetrics(
        this.#clock,
        () => this.#sendMetrics(),
        (cpuClock) => this.#vitals.useCpuClock(cpuClock),
      );
    taskContext.worker = birth.name;
    this.#link = new SchedulerLink((message) => host.post(message));
    if (birth.asks) connectScheduler(this.#link);
  }

  handle(message: ToIsolate): void {
    switch (message.type) {
      case 'several':
        for (const each of message.messages) this.handle(each);
        break;
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
      case 'evict':
        this.#evict(message.run, message.ids);
        break;
      case 'fetch':
        this.#fetch(message.run, message.ids);
        break;
      case 'collect':
        collectGarbage();
        this.#vitals.refresh(Number.POSITIVE_INFINITY);
        break;
      case 'call':
        void answerCall(message, (answer) => this.#host.post(answer));
        break;
      case 'answer':
        this.#link.answered(message.answer);
        break;
      case 'close':
        this.#runs.delete(message.run);
        this.#host.post({ type: 'closed', run: message.run });
        break;
    }
  }

  /**
   * Called in the middle of a task: updates the memory figures, sends delayed values and reads messages. The tables
   * of this class are consistent only while a task's own code runs.
   */
  interrupt(): void {
    this.#vitals.refresh(Number.POSITIVE_INFINITY);
    if (!this.#inTask || this.#current === undefined) return;
    const { batch, run } = this.#current;
    if (run.hasUnsent) this.#report(batch.run, run);
    this.#readMail();
  }

  /** Returns the state of the isolate for the dump of a cluster. */
  standing(): IsolateStanding {
    const { batch, next = 0 } = this.#current ?? {};
    const brief = ({ run, batch, ids }: RunBatch): object => ({ run, batch, tasks: ids.length });
    return {
      busy: this.#busy,
      inTask: this.#inTask,
      current: this.#busy && batch !== undefined ? { ...brief(batch), next } : null,
      queue: this.#queue.map(brief),
      runs: Array.from(this.#runs, ([run, { ready }]) => ({ run, loaded: ready === undefined })),
    };
  }

  #open(message: Extract<ToIsolate, { type: 'open' }>): void {
    const { kinds } = message;
    const opened = this.#clock();
    const run = new IsolateRun(message, kinds && this.#metrics?.run(message.run, kinds));
    this.#runs.set(message.run, run);
    const functions = loadFunctions(message.functions);
    if (functions instanceof Promise) void functions.then(() => this.#imported(run, opened));
    const metering = run.metered === undefined ? undefined : this.#metrics?.loading;
    if (!(functions instanceof Promise) && metering === undefined) {
      run.setFunctions(functions);
      return;
    }
    run.ready = Promise.all([functions, metering]).then(([loaded]) => {
      run.setFunctions(loaded);
      run.ready = undefined;
    });
  }

  /** The modules of a run's functions were imported. While a batch runs, its tasks have the time. */
  #imported(run: IsolateRun, since: number): void {
    const now = this.#clock();
    if (run.metered !== undefined && !this.#inBatch)
      run.metered.importSeconds = Math.max(0, now - Math.max(since, this.#reported, this.#importedUpTo));
    this.#importedUpTo = now;
  }

  /** Runs queued batches until there are none, or one has to wait. Continues after the wait. */
  #work(): void {
    this.#busy = true;
    for (let batch = this.#queue.shift(); batch !== undefined; batch = this.#queue.shift()) {
      const run = this.#runs.get(batch.run);
      if (run === undefined) continue;
      const pending =
        run.ready ?? this.#runBatch({ batch, run, next: 0, received: this.#clock(), queued: Number.NaN });
      if (pending === undefined) continue;
      if (run.ready !== undefined) this.#queue.unshift(batch);
      // Neither promise rejects: a task's failure is data, and a function that cannot be loaded throws when it is
      // called.
      void pending.then(() => this.#work());
      return;
    }
    this.#busy = false;
  }

  /** Returns undefined when the batch is finished, or the promise of an asynchronous task. */
  #runBatch(progress: BatchProgress): Promise<void> | undefined {
    const { batch, run } = progress;
    const { ids } = batch;
    this.#current = progress;
    this.#inBatch = true;
    run.metered?.enterBatch(ids[progress.next] ?? 0);
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
        this.#reportBetween(progress, id, start);
        start = this.#clock();
      }
      if (Atomics.compareExchange(run.claims, id, batch.batch, -batch.batch) !== batch.batch) continue;
      if (run.isBlocked(id)) {
        run.skip(id, progress.received, start);
        continue;
      }
      run.log.begin(id, start);
      taskContext.running = true;
      let value: unknown;
      const meter = run.metered?.begin(id, start);
      progress.queued = this.#coreWaits.from(start);
      try {
        taskHook.current?.before(run.labelOf(id));
        this.#inTask = true;
        value = run.evaluate(id);
        this.#inTask = false;
        if (isThenable(value)) {
          return this.#await(progress, id, value, start, meter);
        }
        taskHook.current?.after(false);
      } catch (error) {
        this.#inTask = false;
        taskContext.running = false;
        taskHook.current?.after(true);
        run.fail(error, this.#ended(progress, id, meter, start, this.#clock(), 'failed'));
        start = this.#clock();
        continue;
      }
      taskContext.running = false;
      const stop = this.#clock();
      run.complete(value, this.#ended(progress, id, meter, start, stop, 'done'));
      // The time for packing a value must not count for the next task.
      start = run.hasUnsent ? this.#clock() : stop;
      if (stop - this.#reported > REPORT_SECONDS) this.#reportBetween(progress, id, start);
    }
    run.metered?.leaveBatch(ids[0] ?? 0, this.#clock());
    this.#report(batch.run, run, this.#queue.length === 0);
    this.#inBatch = false;
    if (run.isLeaving) this.#evict(batch.run, NO_IDS);
    return undefined;
  }

  async #await(
    progress: BatchProgress,
    id: number,
    promise: PromiseLike<unknown>,
    start: number,
    meter: TaskMeter | undefined,
  ): Promise<void> {
    const { run } = progress;
    // Tasks elsewhere may need the finished results while this promise is pending.
    this.#reportBetween(progress, id, start);
    const [begun, idle, cpu] = [this.#clock(), idleSeconds(), run.metered?.cpuSeconds() ?? 0];
    const call = promise instanceof PythonCall ? promise : undefined;
    try {
      call?.begin(run.labelOf(id));
      const value = await promise;
      const stop = this.#clock();
      if (call === undefined)
        run.metered?.awaited(id, begun, stop, idleSeconds() - idle, run.metered.cpuSeconds() - cpu);
      taskHook.current?.after(false);
      run.complete(value, this.#ended(progress, id, meter, startOf(call, start, stop), stop, 'done'));
    } catch (error) {
      const stop = this.#clock();
      taskHook.current?.after(true);
      run.fail(error, this.#ended(progress, id, meter, startOf(call, start, stop), stop, 'failed'));
    }
    taskContext.running = false;
    progress.next++;
    const pending = this.#runBatch(progress);
    if (pending !== undefined) await pending;
  }

  /** Ends the task: fills the record of its run, which is valid until the next task ends. */
  #ended(
    { batch, run, received, queued }: BatchProgress,
    id: number,
    meter: TaskMeter | undefined,
    start: number,
    stop: number,
    outcome: Outcome,
  ): TaskRun {
    const ended = this.#lastRun;
    ended.id = id;
    ended.received = received;
    ended.start = start;
    ended.stop = stop;
    ended.coreWait = this.#coreWaits.until(queued, start, stop);
    run.metered?.end(meter, id, start, stop, run.isUnwanted(id, batch.batch) ? 'cancelled' : outcome);
    return ended;
  }

  /** Reports in the middle of a batch. Work up to `now` belongs to its task `id`. */
  #reportBetween({ batch, run }: BatchProgress, id: number, now: number): void {
    run.metered?.leaveBatch(id, now);
    this.#report(batch.run, run);
  }

  /** Sends a report. `idle` if no task waits. */
  #report(number: number, run: IsolateRun, idle = false): void {
    this.#reported = this.#clock();
    this.#vitals.refresh(this.#reported);
    const measures = this.#metrics?.take(this.#reported, idle);
    const measured = measures === undefined ? undefined : { measures };
    if (!run.hasUnsent) {
      this.#host.post({
        type: 'report',
        run: number,
        values: NO_VALUES,
        packed: NO_PACKED,
        errors: [],
        ...measured,
      });
      return;
    }
    const unsent = run.takeUnsent();
    const handed = this.#handed(unsent);
    const more =
      handed === undefined ? measured : { measures: { ...(measures ?? NOTHING_MEASURED), handed } };
    this.#send(unsent, (sendable) => ({ type: 'report', run: number, ...sendable, ...more }));
  }

  /** Returns the measurement of results that go to the host's thread. */
  #handed({ packed: { results } }: Unsent): IsolateMeasures['handed'] {
    if (this.#metrics === undefined || results.length === 0) return undefined;
    const nbytes = results.reduce((sum, one) => sum + packedBytes(one), 0);
    return { time: this.#clock(), count: results.length, nbytes };
  }

  /** Sends measurements that arrive while no task runs, e.g. a garbage collection after the last task. */
  #sendMetrics(): void {
    if (this.#busy) return;
    const measures = this.#metrics?.take(this.#clock(), true);
    if (measures !== undefined) this.#host.post({ type: 'measured', measures });
  }

  #evict(number: number, ids: Int32Array): void {
    const run = this.#runs.get(number);
    if (run === undefined) return;
    const batches = this.#queue.filter((batch) => batch.run === number);
    if (this.#current?.run === run) batches.push(this.#current.batch);
    run.evict(ids, batches);
  }

  #fetch(number: number, ids: Int32Array): void {
    const run = this.#runs.get(number);
    if (run === undefined) return;
    const { missing, ...unsent } = run.fetch(ids);
    this.#send(unsent, (sendable) => ({ type: 'fetched', run: number, missing, ...sendable }));
  }

  /** Posts values. If they cannot be cloned, finds the culprits and posts errors in their place. */
  #send(unsent: Unsent, message: (sendable: Unsent) => FromIsolate): void {
    try {
      this.#host.post(message(unsent));
    } catch {
      const { values, packed, errors } = unsent;
      const { good, bad } = splitValues(values, structuredClone, notCloneable);
      this.#host.post(message({ values: good, packed, errors: [...errors, ...bad] }));
    }
  }

  /** Reads waiting messages between two tasks. Batches go to the queue as usual. */
  #readMail(): void {
    Atomics.store(this.#mailbox, 0, 0);
    for (let message = this.#host.receive(); message !== undefined; message = this.#host.receive())
      this.handle(message);
  }
}
