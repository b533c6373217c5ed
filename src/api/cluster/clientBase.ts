// The part of Client that reports on its cluster: the trace, recordings, the state of the scheduler, plugins.

import {
  ANY,
  CALLABLE,
  checkArgument,
  checkNoMore,
  checkOptions,
  invalid,
  type OptionKinds,
  objectWith,
  TEXT,
} from '../../base/arguments.js';
import { invalidArgument, LongpoleError } from '../../base/errors.js';
import { fieldOf } from '../../base/json.js';
import { once } from '../../base/lookUps.js';
import { Printed } from '../../base/printed.js';
import type { ClusterMemory } from '../../diagnostics/memorySampler.js';
import type { ClusterDump } from '../../engine/cluster/clusterDump.js';
import type { ClientCaller } from '../../engine/cluster/coordination/sharedCalls.js';
import { untilClosed } from '../../engine/cluster/endedByClosing.js';
import type { SchedulerPlugin } from '../../engine/cluster/schedulerPlugins.js';
import {
  INSTALL_PLUGIN,
  UNINSTALL_PLUGIN,
  type WorkerPluginSpec,
} from '../../engine/worker/workerPlugins.js';
import type { TraceWriterOptions } from '../../files/traceWriter.js';
import type { CallTree } from '../../profile/callTree.js';
import type { ClusterObserver } from '../../protocol/clusterObserver.js';
import type { CoordinationKind } from '../../protocol/coordination.js';
import type { AnswerOf, QuestionOf } from '../../protocol/questions.js';
import type { Trace } from '../../trace/trace.js';
import { clusterProfile, PROFILE_OPTIONS, type ProfileOptions } from './clientMeasures.js';
import type { ClientTools } from './clientTools.js';
import { type ClosingStep, ClosingSteps } from './closingSteps.js';
import type { Cluster } from './cluster.js';
import { type SchedulerInfo, type SchedulerView, schedulerView } from './schedulerView.js';
import type { TaskStreamOptions, TaskStreamRow } from './taskStream.js';

const OBSERVER = objectWith('an object with methods of an observer');

let nextClient = 1;

export class ClientBase extends Printed {
  readonly name = `client-${nextClient++}`;
  /** @internal */
  readonly cluster: Cluster;
  /** @internal */
  readonly tools: ClientTools;
  readonly #closing = new ClosingSteps();
  /** Identifies the client as a caller of shared objects. */
  #caller: ClientCaller | undefined;
  #closed = false;

  /** @internal */
  constructor(cluster: Cluster, tools: ClientTools) {
    super();
    this.cluster = cluster;
    this.tools = tools;
  }

  /** @internal Calls a shared object. */
  coordinate<K extends CoordinationKind>(kind: K, question: QuestionOf<K>): Promise<AnswerOf<K>> {
    return this.call(() => this.cluster.engine.coordination.call(kind, question, this.caller()));
  }

  /** @internal */
  protected caller(): ClientCaller {
    const { coordination } = this.cluster.engine;
    const caller = this.#caller ?? coordination.addClient(this.name);
    if (this.#caller === undefined) this.onClose(() => coordination.removeClient(caller, clientClosed()));
    this.#caller = caller;
    return caller;
  }

  /**
   * Snapshot of the live trace: the newest rows, and exact totals since the start of the cluster. `evicted` has the
   * number of rows that the trace no longer holds.
   *
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if the cluster was started with `record: false`
   */
  get trace(): Trace {
    const { live } = this.cluster.parts;
    if (live === undefined)
      throw invalidArgument(
        'The cluster was started with record: false and has no trace. Start it without that option.',
      );
    return live.snapshot();
  }

  /**
   * Records all tasks and measurements from now on in a trace directory. Other programs can read the trace while it
   * grows.
   *
   * @returns a function that ends the recording and completes the trace. Its promise resolves when the trace also has
   *   the samples and metrics that workers send afterwards, at most three seconds later. It rejects with
   *   ERR_LONGPOLE_TRACE_FILE if a row could not be written
   * @throws LongpoleError ERR_LONGPOLE_TRACE_FILE if the directory cannot be written, or already has a trace
   */
  record(directory: string, options: TraceWriterOptions = {}): () => Promise<void> {
    if (typeof directory !== 'string' || directory === '')
      throw invalid('record()', directory, 'a directory');
    const stop = this.tools.recordCluster(this.cluster, directory, options);
    const forget = this.cluster.onClose(stop);
    return once(() => stop().finally(forget));
  }

  /**
   * Returns one row for each run of a task that overlaps a range of time, in the order in which the runs ended. A run
   * that was lost with its worker counts from `dispatched` to `acknowledged`; its `started` and `stopped` are NaN.
   *
   * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written, ERR_LONGPOLE_INVALID_ARGUMENT
   * @source Dask, `Client.get_task_stream`
   */
  getTaskStream(options: TaskStreamOptions = {}): TaskStreamRow[] {
    return this.tools.taskStream(() => this.trace, options);
  }

  /**
   * Registers a plugin of the scheduler (an object with hooks), or of the workers (a module). Every worker, also every
   * later one, creates the plugin of the module in its isolate.
   *
   *     await client.registerPlugin({ transition(key, start, finish) { … } });
   *     await client.registerPlugin({ url: import.meta.url, export: 'MyWorkerPlugin', options: { … } });
   *
   * `teardown` of a worker's plugin is called when the plugin is removed, the worker leaves, or the cluster closes. A
   * worker that dies, or that leaves and is still busy after three seconds, does not call `teardown`.
   *
   * @returns (resolves) a function that removes the plugin
   * @throws (rejects) the error of `setup` of a worker's plugin, which is then registered on no worker; LongpoleError
   *   ERR_LONGPOLE_NOT_CLONEABLE if its options cannot be copied to the workers, ERR_LONGPOLE_INVALID_ARGUMENT
   * @source Dask, `Client.register_plugin`
   */
  async registerPlugin(plugin: SchedulerPlugin | WorkerPluginSpec): Promise<() => Promise<void> | void> {
    checkPlugin(plugin);
    if ('url' in plugin) {
      const name = plugin.name ?? `${plugin.url}#${plugin.export ?? 'default'}`;
      const { installed } = this.cluster.engine;
      const added = installed.add(name, { fn: INSTALL_PLUGIN, end: UNINSTALL_PLUGIN, context: { plugin } });
      await this.cluster.engine.waits.during('Client.registerPlugin', name, added);
      return () => installed.remove(name);
    }
    return this.cluster.parts.plugins.add(plugin);
  }

  /**
   * Calls a function with `{ scheduler }` on the scheduler's thread, which is this thread.
   *
   * @returns (resolves) the return value of the function
   * @throws (rejects) the error of the function
   * @source Dask, `Client.run_on_scheduler`
   */
  runOnScheduler<R>(fn: (context: { scheduler: SchedulerView }) => R): Promise<Awaited<R>>;
  async runOnScheduler(
    fn: (context: { scheduler: SchedulerView }) => unknown,
    ...more: readonly unknown[]
  ): Promise<unknown> {
    if (typeof fn !== 'function') throw invalid('Client.runOnScheduler: fn', fn, 'a function');
    checkNoMore(
      'Client.runOnScheduler',
      more,
      'The function receives { scheduler } and may close over the rest.',
    );
    return await fn({ scheduler: schedulerView(this.cluster) });
  }

  /**
   * Returns the call tree of the statistical profiler's samples of tasks, including tasks that run now.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written, ERR_LONGPOLE_INVALID_ARGUMENT
   * @source Dask, `Client.profile`
   */
  async profile(options: ProfileOptions = {}): Promise<CallTree> {
    checkOptions('Client.profile', options, PROFILE_OPTIONS);
    return clusterProfile(this.cluster, () => this.trace, options);
  }

  /** Returns the memory of all processes of workers now, in bytes; see MemorySampler. */
  memory(): ClusterMemory;
  memory(...more: readonly unknown[]): ClusterMemory {
    checkNoMore(
      'Client.memory',
      more,
      'It returns the memory of all workers. Client.schedulerInfo has each worker.',
    );
    return this.cluster.parts.memory.read();
  }

  /** Link of the dashboard; undefined if the cluster has none. */
  get dashboardLink(): string | undefined {
    return this.cluster.dashboardLink;
  }

  /**
   * Dumps the state of the cluster, to find out why a program hangs. The dump has the unfinished tasks and what they
   * wait for; for each worker the last messages and the stack of its thread; and the waiting calls of clients.
   *
   *     console.log(String(await client.dump()));
   *     console.log((await client.dump()).brief()); // at most 40 lines
   *
   * With the setting `dump-signal`, an unchanged program prints both when it receives that signal.
   *
   * @returns (resolves) the dump, after some milliseconds, or after 3 s if a worker does not answer. Never rejects
   */
  dump(): Promise<ClusterDump>;
  async dump(...more: readonly unknown[]): Promise<ClusterDump> {
    checkNoMore('Client.dump', more, 'Write String(dump) to a file.');
    return this.tools.dumpCluster(this.cluster.engine);
  }

  /**
   * Returns the present state of the scheduler and of each worker as a plain object.
   *
   * @source Dask, `Client.scheduler_info`
   */
  schedulerInfo(): SchedulerInfo;
  schedulerInfo(...more: readonly unknown[]): SchedulerInfo {
    checkNoMore('Client.schedulerInfo', more, 'It returns the state of all workers.');
    return schedulerView(this.cluster).info;
  }

  /**
   * Reports all events of the cluster to an observer from now on.
   *
   * @returns a function that ends the observation
   */
  observe(observer: ClusterObserver): () => void {
    checkArgument('Client.observe: observer', observer, OBSERVER);
    return this.cluster.engine.observe(observer);
  }

  /** @internal Makes a call that rejects when the client or its cluster closes. */
  protected call<R>(call: () => Promise<R>): Promise<R> {
    const checked = async (): Promise<R> => {
      this.check();
      try {
        return await call();
      } catch (error) {
        // The end of the cluster ends its workers.
        if (fieldOf(error, 'code') === 'ERR_LONGPOLE_WORKER_LOST') this.check();
        throw error;
      }
    };
    // A call on a closed client is an error of the program, so its rejection does not count as handled.
    if (this.isClosed) return checked();
    return untilClosed(checked, () => this.isClosed);
  }

  /** @internal */
  get isClosed(): boolean {
    return this.#closed || this.cluster.isClosed;
  }

  /** @internal @throws LongpoleError ERR_LONGPOLE_CLOSED */
  protected check(): void {
    if (this.#closed) throw clientClosed();
    this.cluster.checkOpen();
  }

  /** @internal Marks the client as closed. Returns false if it was closed before. */
  protected beginClosing(): boolean {
    const begins = !this.#closed;
    this.#closed = true;
    return begins;
  }

  /** @internal Registers a function to call when the client closes. Returns a function that removes it. */
  onClose(step: ClosingStep): () => void {
    return this.#closing.add(step);
  }

  /** @internal */
  protected runClosing(): Promise<void> {
    return this.#closing.run((work) => this.cluster.engine.waits.during('Client.close', '', work));
  }
}

function clientClosed(): LongpoleError {
  return new LongpoleError('ERR_LONGPOLE_CLOSED', 'The client is closed. Connect a new one.');
}

const WORKER_PLUGIN: OptionKinds<WorkerPluginSpec> = { url: TEXT, export: TEXT, name: TEXT, options: ANY };
const HOOKS: OptionKinds<SchedulerPlugin> = {
  name: TEXT,
  start: CALLABLE,
  addWorker: CALLABLE,
  removeWorker: CALLABLE,
  transition: CALLABLE,
  close: CALLABLE,
};
const PLUGIN = objectWith("an object with hooks, or { url, export } of a worker's plugin");

/**
 * Checks a plugin. Rejects an instance of a worker's plugin, because workers create their instances.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT
 */
function checkPlugin(plugin: SchedulerPlugin | WorkerPluginSpec): void {
  checkArgument('Client.registerPlugin: plugin', plugin, PLUGIN);
  if ('url' in plugin) {
    checkOptions('Client.registerPlugin', plugin, WORKER_PLUGIN);
    return;
  }
  if ('setup' in plugin || 'teardown' in plugin)
    throw invalidArgument(
      "Client.registerPlugin: plugin: 'setup' and 'teardown' are hooks of workers, which create their plugins from a module. " +
        "Pass the plugin's module: { url: import.meta.url, export: 'MyPlugin', options: { … } }.",
    );
  // A plugin may have properties of its own, so only its hooks are checked.
  const hooks = Object.fromEntries(Object.keys(HOOKS).map((name) => [name, Reflect.get(plugin, name)]));
  checkOptions('Client.registerPlugin', hooks, HOOKS);
  const names = Object.keys(HOOKS).filter((name) => name !== 'name');
  if (!names.some((name) => name in plugin))
    throw invalid('Client.registerPlugin: plugin', plugin, `an object with some of ${names.join(', ')}`);
}
