// What a client asks of the workers and of what the scheduler knows, beside the work itself, which Client adds.
import {
  ANY,
  CALLABLE,
  checkArgument,
  checkNoMore,
  checkOptions,
  FLAG,
  invalid,
  NAMES,
  type OptionKinds,
  TEXT,
} from '../../base/arguments.js';
import { LongpoleError } from '../../base/errors.js';
import type { EngineWorker } from '../../engine/cluster/engineWorker.js';
import type { WorkerSnapshot } from '../../engine/host/workerView.js';
import { isFunction, resolveFunction } from '../../graph/callable.js';
import { functionRef } from '../../graph/shipFunction.js';
import type { TaskFunction } from '../../graph/taskFunction.js';
import { ClientBase } from './clientBase.js';
import { RUN_OPTIONS, type RunOptions } from './clientOptions.js';
import type { EventHandler, LoggedEvent } from './eventLog.js';
import { type Future, futureList } from './future.js';
import { namedWorkers } from './namedWorkers.js';
import { callStacks, hasWhat, nbytesOf, processing, whoHas } from './whereThingsAre.js';

/** What `Client.run` calls on a worker. */
type OnWorker<R> = (context: { readonly worker: WorkerSnapshot }) => R;

export interface NbytesOptions {
  /** Only the results of these. Default: all. */
  readonly futures?: Future<unknown> | Iterable<Future<unknown>>;
  /** By prefix instead of by key. Default true. */
  readonly summary?: boolean;
}

/** The futures are checked where they are used. */
const NBYTES_OPTIONS: OptionKinds<NbytesOptions> = { futures: ANY, summary: FLAG };

export class ClientCalls extends ClientBase {
  /**
   * Calls a function in the isolate of every worker, or of those named: between two tasks, or in the middle of a long one. It
   * gets `{ worker }`, a copy of the worker's facts and logs.
   *
   * @returns worker name → what it returned
   * @throws (rejects) what the function throws; ERR_LONGPOLE_NOT_CLONEABLE if what it returns cannot be copied;
   *   ERR_LONGPOLE_INVALID_ARGUMENT for a worker that is not there;
   *   ERR_LONGPOLE_WORKER_LOST if a worker ends before it answers
   */
  run<R>(fn: TaskFunction<OnWorker<R>>, options?: RunOptions): Promise<Record<string, Awaited<R>>>;
  run<R>(fn: OnWorker<R>, options?: RunOptions): Promise<Record<string, Awaited<R>>>;
  run(fn: unknown, options: RunOptions = {}, ...more: readonly unknown[]): Promise<Record<string, unknown>> {
    return this.call(async () => {
      if (!isFunction(fn)) throw invalid('Client.run: fn', fn, 'a function');
      checkOptions('Client.run', options, RUN_OPTIONS);
      checkNoMore('Client.run', more, 'The function receives { worker } and nothing else.');
      const { workers: names } = options;
      const ref = functionRef(resolveFunction(fn));
      const workers = namedWorkers(this.cluster, names);
      const results = Promise.all(
        workers.map(async ({ info, host }): Promise<[string, unknown]> => [info.name, await host.call(ref)]),
      );
      return Object.fromEntries(await this.cluster.engine.waits.during('Client.run', ref.name, results));
    });
  }

  /**
   * Which workers hold the results of some futures, or of all that the cluster holds.
   *
   * @returns key → names of workers. Results up to 1 KiB are with the scheduler: no worker
   * @source Dask, `Client.who_has`
   */
  whoHas(futures?: Future<unknown> | Iterable<Future<unknown>>): Record<string, string[]> {
    this.check();
    return whoHas(this.cluster.engine, keysOf('Client.whoHas', futures));
  }

  /**
   * Which results workers hold.
   *
   * @param workers names or addresses. Default: all
   * @returns name of a worker → keys
   * @source Dask, `Client.has_what`
   */
  hasWhat(workers?: string | readonly string[]): Record<string, string[]> {
    return hasWhat(this.cluster.engine, this.#named('Client.hasWhat', workers));
  }

  /**
   * Which tasks workers have and have not finished.
   *
   * @param workers names or addresses. Default: all
   * @returns name of a worker → keys
   * @source Dask, `Client.processing`
   */
  processing(workers?: string | readonly string[]): Record<string, string[]> {
    return processing(this.cluster.engine, this.#named('Client.processing', workers));
  }

  /**
   * The stacks of the tasks that run now, also in the middle of one.
   *
   * @param futures only those of these futures. Default: all
   * @returns (resolves) name of a worker → key → stack frames, innermost first
   * @source Dask, `Client.call_stack`
   */
  callStack(
    futures?: Future<unknown> | Iterable<Future<unknown>>,
  ): Promise<Record<string, Record<string, string[]>>> {
    return this.call(async () => {
      const keys = keysOf('Client.callStack', futures);
      const stacks = callStacks(this.cluster.engine, namedWorkers(this.cluster, undefined), keys);
      return this.cluster.engine.waits.during('Client.callStack', '', stacks);
    });
  }

  /**
   * The bytes of the results that the cluster holds.
   *
   * @param options.futures only these. Default: all
   * @param options.summary by prefix instead of by key. Default true
   * @source Dask, `Client.nbytes`
   */
  nbytes(options: NbytesOptions = {}): Record<string, number> {
    this.check();
    checkOptions('Client.nbytes', options, NBYTES_OPTIONS);
    const { futures, summary = true } = options;
    return nbytesOf(this.cluster.engine, { keys: keysOf('Client.nbytes', futures), summary });
  }

  /**
   * How many tasks workers run at the same time.
   *
   * @param workers names or addresses. Default: all
   * @returns name of a worker → threads that run tasks
   * @source Dask, `Client.nthreads`
   */
  nthreads(workers?: string | readonly string[]): Record<string, number> {
    const named = this.#named('Client.nthreads', workers);
    return Object.fromEntries(named.map(({ info }) => [info.name, info.threads]));
  }

  /**
   * Logs an event, which the pages and traces show on their time axis.
   *
   * @param topic one topic, or several
   * @param message anything; pages and traces show it as text or JSON
   * @source Dask, `Client.log_event`
   */
  logEvent(topic: string | readonly string[], message: unknown): void {
    this.check();
    checkArgument('Client.logEvent: topic', topic, NAMES);
    for (const one of typeof topic === 'string' ? [topic] : topic) this.cluster.events.log(one, message);
  }

  /**
   * The newest events of a topic, at most 10,000, the oldest first; without a topic those of all topics. The cluster logs its own
   * events there, too, e.g. `task-erred`.
   *
   * @source Dask, `Client.get_events`
   */
  getEvents(topic: string): readonly LoggedEvent[];
  getEvents(): Readonly<Record<string, readonly LoggedEvent[]>>;
  getEvents(topic?: string): readonly LoggedEvent[] | Readonly<Record<string, readonly LoggedEvent[]>> {
    this.check();
    if (topic === undefined) return this.cluster.events.topics;
    checkArgument('Client.getEvents: topic', topic, TEXT);
    return this.cluster.events.of(topic);
  }

  /**
   * Calls a function for every event of a topic from now on, until the client closes.
   *
   * @returns what ends that
   * @source Dask, `Client.subscribe_topic`
   */
  subscribeTopic(topic: string, handler: EventHandler): () => void {
    this.check();
    checkArgument('Client.subscribeTopic: topic', topic, TEXT);
    checkArgument('Client.subscribeTopic: handler', handler, CALLABLE);
    const end = this.cluster.events.subscribe(topic, handler);
    this.onClose(end);
    return end;
  }

  /**
   * Replaces workers by new ones, which are up before the old ones leave. The old ones finish what they run and hand their results on.
   *
   * @param workers names or addresses
   * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_WORKER_START
   * @source Dask, `Client.restart_workers`
   */
  restartWorkers(workers: string | readonly string[]): Promise<void> {
    return this.call(async () => {
      checkArgument('Client.restartWorkers: workers', workers, NAMES);
      await this.cluster.restartWorkers(namedWorkers(this.cluster, workers));
    });
  }

  /**
   * Cancels all futures and computations of the cluster, also those of other clients, and replaces all workers by new ones.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_WORKER_START
   * @source Dask, `Client.restart`
   */
  restart(): Promise<void> {
    return this.call(async () => {
      this.cluster.engine.cancelEverything(
        new LongpoleError('ERR_LONGPOLE_FUTURE', 'Client.restart has cancelled the future. Submit it again.'),
      );
      await this.cluster.restartWorkers(namedWorkers(this.cluster, undefined));
    });
  }

  #named(where: string, workers: string | readonly string[] | undefined): readonly EngineWorker[] {
    this.check();
    if (workers !== undefined) checkArgument(`${where}: workers`, workers, NAMES);
    return namedWorkers(this.cluster, workers);
  }
}

function keysOf(
  where: string,
  futures: Future<unknown> | Iterable<Future<unknown>> | undefined,
): ReadonlySet<string> | undefined {
  return futures === undefined ? undefined : new Set(futureList(where, futures).map(({ key }) => key));
}
