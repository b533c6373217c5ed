// The part of Client that queries the workers and the scheduler, restarts workers, and logs events.
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
import { unusableFuture } from '../../base/errors.js';
import type { EngineWorker } from '../../engine/cluster/engineWorker.js';
import type { WorkerSnapshot } from '../../engine/host/hostTypes.js';
import { isFunction, resolveFunction } from '../../graph/callable.js';
import { functionRef } from '../../graph/shipFunction.js';
import type { TaskFunction } from '../../graph/taskFunction.js';
import type { AdaptOptions } from './adaptive.js';
import { ClientBase } from './clientBase.js';
import { RUN_OPTIONS, type RunOptions } from './clientOptions.js';
import type { EventHandler, LoggedEvent } from './eventLog.js';
import { Future, futureList } from './future.js';

/** A function for `Client.run`. */
type OnWorker<R> = (context: { readonly worker: WorkerSnapshot }) => R;

export interface NbytesOptions {
  /** Futures of the results to count. Default: all results. */
  readonly futures?: Future<unknown> | Iterable<Future<unknown>>;
  /** Whether to sum by prefix instead of by key. Default true. */
  readonly summary?: boolean;
}

/** `futureList` checks the futures. */
const NBYTES_OPTIONS: OptionKinds<NbytesOptions> = { futures: ANY, summary: FLAG };

export class ClientCalls extends ClientBase {
  /**
   * Calls a function in the isolate of every worker, or of the named workers, also while a task runs there. The
   * function receives `{ worker }`, a copy of the worker's facts and logs.
   *
   * @param options.workers names or addresses; default: all
   * @returns (resolves) return values by name of the worker
   * @throws (rejects) the error of the function; LongpoleError ERR_LONGPOLE_NOT_CLONEABLE if a return value cannot be
   *   copied, ERR_LONGPOLE_INVALID_ARGUMENT for an unknown worker, ERR_LONGPOLE_WORKER_LOST if a worker ends before it
   *   answers
   * @source Dask, `Client.run`
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
      if (ref.type === 'python')
        throw invalid(
          'Client.run: fn',
          fn,
          `a function of JavaScript; submit python('${ref.target}') as a task`,
        );
      const workers = this.cluster.namedWorkers(names);
      const results = Promise.all(
        workers.map(async ({ info, host }): Promise<[string, unknown]> => [info.name, await host.call(ref)]),
      );
      return Object.fromEntries(await this.cluster.engine.waits.during('Client.run', ref.name, results));
    });
  }

  /**
   * Returns which workers hold the results of futures. Default: of all results in the cluster.
   *
   * @returns names of workers by key. The array is empty for results of up to 1 KiB, which the scheduler holds
   * @source Dask, `Client.who_has`
   */
  whoHas(futures?: Future<unknown> | Iterable<Future<unknown>>): Record<string, string[]> {
    this.check();
    return this.tools.whoHas(this.cluster.engine, keysOf('Client.whoHas', futures));
  }

  /**
   * Returns which results workers hold.
   *
   * @param workers names or addresses; default: all
   * @returns keys by name of the worker
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for an unknown worker
   * @source Dask, `Client.has_what`
   */
  hasWhat(workers?: string | readonly string[]): Record<string, string[]> {
    return this.tools.hasWhat(this.cluster.engine, this.#named('Client.hasWhat', workers));
  }

  /**
   * Returns which tasks workers have received and not finished.
   *
   * @param workers names or addresses; default: all
   * @returns keys by name of the worker
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for an unknown worker
   * @source Dask, `Client.processing`
   */
  processing(workers?: string | readonly string[]): Record<string, string[]> {
    return this.tools.processing(this.cluster.engine, this.#named('Client.processing', workers));
  }

  /**
   * Returns the present stacks of running tasks.
   *
   * @param futures futures of the tasks; default: all running tasks
   * @returns (resolves) stack frames, innermost first, by name of the worker and by key
   * @source Dask, `Client.call_stack`
   */
  callStack(
    futures?: Future<unknown> | Iterable<Future<unknown>>,
  ): Promise<Record<string, Record<string, string[]>>> {
    return this.call(async () => {
      const keys = keysOf('Client.callStack', futures);
      const stacks = this.tools.callStacks(this.cluster.engine, this.cluster.namedWorkers(undefined), keys);
      return this.cluster.engine.waits.during('Client.callStack', '', stacks);
    });
  }

  /**
   * Returns the sizes of the results in the cluster.
   *
   * @returns bytes by prefix or by key
   * @source Dask, `Client.nbytes`
   */
  nbytes(options: NbytesOptions = {}): Record<string, number> {
    this.check();
    checkOptions('Client.nbytes', options, NBYTES_OPTIONS);
    const { futures, summary = true } = options;
    return this.tools.nbytesOf(this.cluster.engine, { keys: keysOf('Client.nbytes', futures), summary });
  }

  /**
   * Returns how many tasks workers run at the same time.
   *
   * @param workers names or addresses; default: all
   * @returns number of threads by name of the worker
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for an unknown worker
   * @source Dask, `Client.nthreads`
   */
  nthreads(workers?: string | readonly string[]): Record<string, number> {
    const named = this.#named('Client.nthreads', workers);
    return Object.fromEntries(named.map(({ info }) => [info.name, info.threads]));
  }

  /**
   * Logs an event. The dashboard and traces show the event on their time axis.
   *
   * @param topic one topic, or several
   * @param message any value; the dashboard and traces show it as text or JSON
   * @source Dask, `Client.log_event`
   */
  logEvent(topic: string | readonly string[], message: unknown): void {
    this.check();
    checkArgument('Client.logEvent: topic', topic, NAMES);
    for (const one of typeof topic === 'string' ? [topic] : topic)
      this.cluster.parts.events.log(one, message);
  }

  /**
   * Returns the newest events of a topic, at most 10,000, oldest first. They include events of the cluster, e.g.
   * `task-erred`.
   *
   * @returns an array of events; without a topic, arrays by topic
   * @source Dask, `Client.get_events`
   */
  getEvents(topic: string): readonly LoggedEvent[];
  getEvents(): Readonly<Record<string, readonly LoggedEvent[]>>;
  getEvents(topic?: string): readonly LoggedEvent[] | Readonly<Record<string, readonly LoggedEvent[]>> {
    this.check();
    if (topic === undefined) return this.cluster.parts.events.topics;
    checkArgument('Client.getEvents: topic', topic, TEXT);
    return this.cluster.parts.events.of(topic);
  }

  /**
   * Calls a function for every event of a topic from now on, until the client closes.
   *
   * @returns a function that ends the subscription
   * @source Dask, `Client.subscribe_topic`
   */
  subscribeTopic(topic: string, handler: EventHandler): () => void {
    this.check();
    checkArgument('Client.subscribeTopic: topic', topic, TEXT);
    checkArgument('Client.subscribeTopic: handler', handler, CALLABLE);
    const end = this.cluster.parts.events.subscribe(topic, handler);
    const forget = this.onClose(end);
    return () => {
      end();
      forget();
    };
  }

  /**
   * Runs failed tasks again, together with the failed tasks that they depend on. Their futures become pending, also the
   * futures of failed tasks that depend on them, and get the outcome of the new run. Released inputs are computed again.
   * Futures that have not failed stay as they are. The option `retries` and `allowedFailures` count anew.
   *
   * A failed task that also depends on another failed task, which is not retried, keeps its error.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_FUTURE for a future that was released or cancelled,
   *   ERR_LONGPOLE_DATA_LOST if a task needs scattered data that no longer exists; no task runs again then. The error of
   *   the submission for a future that could not be submitted
   * @source Dask, `Client.retry`
   */
  retry(futures: Future<unknown> | Iterable<Future<unknown>>): Promise<void>;
  retry(futures: Future<unknown> | Iterable<Future<unknown>>, ...more: readonly unknown[]): Promise<void> {
    return this.call(async () => {
      checkNoMore('Client.retry', more, 'Pass several futures in an array.');
      const handles = futureList('Client.retry', futures).map((future) => future.live());
      this.tools.retryResults(this.cluster.engine, handles);
    });
  }

  /**
   * Runs the task of a future that has ended in this process, with the same function and the same inputs, so that a
   * debugger (`node --inspect`) can stop in it. For a failed future, that is the task that failed, even if the future's own
   * task only depends on it. Inputs are gathered and copied. Released inputs are computed again on the workers.
   *
   * @returns (resolves) what the function returns
   * @throws (rejects) what the function throws, with its stack in this process; LongpoleError ERR_LONGPOLE_FUTURE for a
   *   future that is pending, released or cancelled, ERR_LONGPOLE_DATA_LOST if scattered data no longer exists,
   *   ERR_LONGPOLE_INVALID_ARGUMENT for scattered data and functions of Python, ERR_LONGPOLE_NOT_CLONEABLE if an input
   *   cannot be copied. The error of an input that cannot be computed again
   * @source Dask, `Client.recreate_task_locally` and `Client.recreate_error_locally`
   */
  recreateTaskLocally<T>(future: Future<T>): Promise<T>;
  recreateTaskLocally(future: Future<unknown>, ...more: readonly unknown[]): Promise<unknown> {
    return this.call(async () => {
      checkNoMore('Client.recreateTaskLocally', more, 'It runs one task.');
      if (!(future instanceof Future))
        throw invalid('Client.recreateTaskLocally: future', future, 'a Future');
      const handle = future.live();
      const { recreateTask } = await import('../../engine/cluster/recreateTask.js');
      return recreateTask(this.cluster.engine, handle);
    });
  }

  /**
   * Adapts the number of workers of a LocalCluster to its load from now on, until `cluster.scale` or `cluster.close`. A
   * further call replaces the settings.
   *
   * @returns (resolves) when the number of workers is within its limits
   * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, also for a Dask cluster, ERR_LONGPOLE_WORKER_START
   * @source Dask, `Cluster.adapt`
   */
  adapt(options: AdaptOptions = {}): Promise<void> {
    return this.call(() => this.cluster.adapt(options));
  }

  /**
   * Replaces workers by new ones. The new workers start first. Then the old workers finish their running tasks, hand
   * over their results, and leave.
   *
   * @param workers names or addresses
   * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for an unknown worker, ERR_LONGPOLE_WORKER_START
   * @source Dask, `Client.restart_workers`
   */
  restartWorkers(workers: string | readonly string[]): Promise<void>;
  restartWorkers(workers: string | readonly string[], ...more: readonly unknown[]): Promise<void> {
    return this.call(async () => {
      checkNoMore('Client.restartWorkers', more, 'Pass several workers in an array.');
      checkArgument('Client.restartWorkers: workers', workers, NAMES);
      await this.cluster.restartWorkers(this.cluster.namedWorkers(workers));
    });
  }

  /**
   * Cancels all futures and computations of the cluster, also of other clients, and replaces all workers by new ones.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_WORKER_START
   * @source Dask, `Client.restart`
   */
  restart(): Promise<void>;
  restart(...more: readonly unknown[]): Promise<void> {
    return this.call(async () => {
      checkNoMore('Client.restart', more, 'It has no options.');
      this.cluster.engine.cancelEverything(
        unusableFuture('Client.restart() has cancelled all futures, also this one. Submit the task again.'),
      );
      await this.cluster.restartWorkers(this.cluster.namedWorkers(undefined));
    });
  }

  #named(where: string, workers: string | readonly string[] | undefined): readonly EngineWorker[] {
    this.check();
    if (workers !== undefined) checkArgument(`${where}: workers`, workers, NAMES);
    return this.cluster.namedWorkers(workers);
  }
}

function keysOf(
  where: string,
  futures: Future<unknown> | Iterable<Future<unknown>> | undefined,
): ReadonlySet<string> | undefined {
  return futures === undefined ? undefined : new Set(futureList(where, futures).map(({ key }) => key));
}
