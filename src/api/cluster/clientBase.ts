// What every client can tell about its cluster: the trace, recordings, the state of the scheduler, plugins. Client adds
// the work.
import { checkArgument, checkNoMore, checkOptions, invalid, kind } from '../../base/arguments.js';
import { LongpoleError } from '../../base/errors.js';
import type { ClusterMemory } from '../../diagnostics/memorySampler.js';
import type { ClusterDump } from '../../engine/cluster/clusterDump.js';
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
import type { Trace } from '../../trace/trace.js';
import { clusterMemory, clusterProfile, PROFILE_OPTIONS, type ProfileOptions } from './clientMeasures.js';
import type { Cluster } from './cluster.js';
import { checkPlugin } from './plugins.js';
import { type SchedulerInfo, type SchedulerView, schedulerView } from './schedulerView.js';
import {
  TASK_STREAM_OPTIONS,
  type TaskStreamOptions,
  type TaskStreamRow,
  taskStreamRows,
} from './taskStream.js';

const OBSERVER = kind(
  'an object with methods of an observer',
  (value) => typeof value === 'object' && value !== null,
);

export class ClientBase {
  /** @internal */
  readonly cluster: Cluster;
  readonly #closing: (() => Promise<void> | void)[] = [];
  #closed = false;

  /** @internal */
  constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  /**
   * The live trace as it stands now: the newest rows, and exact totals over the whole life of the cluster. `letGo` says how
   * many rows are not held any more.
   *
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if the cluster was started with `record: false`
   */
  get trace(): Trace {
    const { live } = this.cluster;
    if (live === undefined)
      throw new LongpoleError(
        'ERR_LONGPOLE_INVALID_ARGUMENT',
        'The cluster was started with record: false and has no trace. Start it without that option.',
      );
    return live.snapshot();
  }

  /**
   * Records everything from now on in a trace directory, which other tools read while it grows.
   *
   * @returns what ends the recording: called, it writes what has happened until then, so that the directory is a whole trace. Its
   *   promise resolves when what workers had sampled and measured until then is in it, too, after three seconds at the latest. It rejects
   *   with ERR_LONGPOLE_TRACE_FILE if something could not be written
   * @throws LongpoleError ERR_LONGPOLE_TRACE_FILE if the directory cannot be written, or has a trace
   */
  record(directory: string, options: TraceWriterOptions = {}): () => Promise<void> {
    if (typeof directory !== 'string' || directory === '')
      throw invalid('record()', directory, 'a directory');
    const stop = this.cluster.tools.recordCluster(this.cluster, directory, options);
    this.cluster.onClose(stop);
    return stop;
  }

  /**
   * The runs of tasks in a range of time, in the order in which they ended. A run that was lost with its worker is there from
   * `dispatched` to `acknowledged`; its `started` and `stopped` are NaN.
   *
   * @param options.filename a performance report that begins at the task stream of this range is written to this file
   * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written
   * @source Dask, `Client.get_task_stream`
   */
  getTaskStream(options: TaskStreamOptions = {}): TaskStreamRow[] {
    checkOptions('Client.getTaskStream', options, TASK_STREAM_OPTIONS);
    const { trace } = this;
    if (options.filename !== undefined) this.cluster.tools.writeStreamPage(trace, options.filename, options);
    return taskStreamRows(trace, options);
  }

  /**
   * Registers a plugin: an object with hooks on the scheduler's side, or, given as a module, one that every worker makes
   * in its isolate, also those that come later.
   *
   *     await client.registerPlugin({ transition(key, start, finish) { … } });
   *     await client.registerPlugin({ url: import.meta.url, export: 'MyWorkerPlugin', options: { … } });
   *
   * `teardown` of a worker's plugin is called when it is taken away and when its worker leaves or the cluster closes; a worker
   * that dies, or is still busy after a second, cannot call it.
   *
   * @returns (resolves) what takes the plugin away again
   * @throws (rejects) what `setup` of a worker's plugin throws: then it is registered nowhere; LongpoleError
   *   ERR_LONGPOLE_NOT_CLONEABLE if its options cannot be copied to the workers
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
    return this.cluster.plugins.add(plugin);
  }

  /** Calls a function on the scheduler's thread, which is this one, with `{ scheduler }`. */
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
   * What the functions of tasks spent their time on, as sampled while they ran: also of a task that runs now.
   *
   * @param options.key only tasks with this prefix, e.g. `inc`
   * @param options.span only tasks in spans whose tags begin with these
   * @param options.start from this time on, in seconds since the epoch; `stop`: before that one. Default: all that is known
   * @param options.workers names or addresses. Default: all
   * @param options.scheduler the scheduler's own thread instead. Default false
   * @param options.filename also written to this file: as a performance report that begins at the profile, or for `.pb`, `.pb.gz` (pprof), `.speedscope.json` and `.json`
   *   in that format
   * @throws (rejects) LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written
   * @source Dask, `Client.profile`
   */
  async profile(options: ProfileOptions = {}): Promise<CallTree> {
    checkOptions('Client.profile', options, PROFILE_OPTIONS);
    return clusterProfile(this.cluster, () => this.trace, options);
  }

  /** Bytes of the whole cluster at this moment; see MemorySampler. */
  memory(): ClusterMemory {
    return clusterMemory(this.cluster);
  }

  /** What to open in a browser; undefined if the cluster has no dashboard. */
  get dashboardLink(): string | undefined {
    return this.cluster.dashboardLink;
  }

  /**
   * Where the cluster stands, for a program that seems to hang: unfinished tasks with what they wait for, and for each worker
   * what it was sent, what it answered and the stack of its thread, and calls of clients that wait. As text:
   * `String(await client.dump())`, or `.brief()` in at most 40 lines. A program that cannot be
   * changed prints both on the signal that the setting `dump-signal` names.
   *
   * @returns (resolves) after some milliseconds, or after 3 s if a worker does not answer. Never rejects
   */
  dump(): Promise<ClusterDump> {
    return this.cluster.tools.dumpCluster(this.cluster.engine);
  }

  /** What is going on, as one plain object. */
  schedulerInfo(): SchedulerInfo {
    return schedulerView(this.cluster).info;
  }

  /** Tells an observer of everything from now on; returns what ends that. */
  observe(observer: ClusterObserver): () => void {
    checkArgument('Client.observe: observer', observer, OBSERVER);
    return this.cluster.engine.observe(observer);
  }

  /** @internal Has a call made that is over when the client or its cluster closes. */
  protected call<R>(call: () => Promise<R>): Promise<R> {
    const checked = async (): Promise<R> => {
      this.check();
      return call();
    };
    // A client that is closed already is a mistake of the program.
    if (this.isClosed) return checked();
    return untilClosed(checked(), () => this.isClosed);
  }

  /** @internal */
  protected get isClosed(): boolean {
    return this.#closed || this.cluster.isClosed;
  }

  /** @internal Throws ERR_LONGPOLE_CLOSED. */
  protected check(): void {
    if (this.#closed)
      throw new LongpoleError('ERR_LONGPOLE_CLOSED', 'The client is closed. Connect a new one.');
    this.cluster.checkOpen();
  }

  /** @internal Returns false if the client closes already. */
  protected beginClosing(): boolean {
    const begins = !this.#closed;
    this.#closed = true;
    return begins;
  }

  /** @internal Runs when the client is closed. */
  onClose(close: () => Promise<void> | void): void {
    this.#closing.push(close);
  }

  /** @internal */
  protected async runClosing(): Promise<void> {
    const { waits } = this.cluster.engine;
    for (const close of this.#closing.splice(0))
      await waits.during('Client.close', '', Promise.resolve(close()));
  }
}
