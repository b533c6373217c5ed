// What a client needs of a cluster, whoever its workers belong to: the engine, its observers, the dashboard, and an end.
import { LongpoleError } from '../../base/errors.js';
import { INSPECT } from '../../base/printed.js';
import { bytesText } from '../../base/words.js';
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import type { ClusterResources } from '../../engine/cluster/clusterResources.js';
import type { ClusterStores } from '../../engine/cluster/clusterStores.js';
import type { EngineWorker } from '../../engine/cluster/engineWorker.js';
import type { SchedulerPlugins } from '../../engine/cluster/schedulerPlugins.js';
import type { StallWatch } from '../../engine/cluster/stallWatch.js';
import type { WorkerPlaces } from '../../engine/cluster/workerPlaces.js';
import { within } from '../../engine/within.js';
import type { LiveTrace } from '../../trace/live/liveTrace.js';
import type { ClientTools } from './clientTools.js';
import type { Serving } from './clusterOptions.js';
import type { ClusterParts } from './clusterParts.js';
import { ConnectedClients } from './connectedClients.js';
import type { EventLog } from './eventLog.js';
import type { Measures } from './measures.js';

/** How long workers have to tell what they have sampled; and the last time, before they end, in milliseconds. */
const FLUSH_MS = 10_000;
const LAST_FLUSH_MS = 3000;

/** A LocalCluster or a DaskCluster. */
export abstract class Cluster {
  /** @internal What dashboards and clients call it. */
  abstract readonly kind: 'LocalCluster' | 'DaskCluster';
  /** @internal */
  readonly engine: ClusterEngine;
  /** @internal Undefined with `record: false`. */
  readonly live: LiveTrace | undefined;
  /** @internal */
  readonly plugins: SchedulerPlugins;
  /** @internal */
  protected readonly places: WorkerPlaces;
  /** @internal */
  readonly stores: ClusterStores;
  readonly #resources: ClusterResources;
  readonly #stalls: StallWatch;
  /** @internal */
  readonly measures: Measures;
  /** @internal */
  readonly events: EventLog;
  /** @internal */
  readonly tools: ClientTools;
  /** @internal */
  readonly clients = new ConnectedClients();
  #dashboardLink: string | undefined;
  readonly #closing: (() => Promise<void> | void)[] = [];
  #closed: Promise<void> | undefined;
  #endDumping: () => void = () => undefined;

  protected constructor(parts: ClusterParts) {
    if (parts?.engine === undefined)
      throw new LongpoleError(
        'ERR_LONGPOLE_INVALID_ARGUMENT',
        'new LocalCluster() does not start workers. Write `await LocalCluster.start({ workers: 4 })`.',
      );
    this.engine = parts.engine;
    this.live = parts.live;
    this.plugins = parts.plugins;
    this.places = parts.places;
    this.stores = parts.stores;
    this.#resources = parts.resources;
    this.#stalls = parts.stalls;
    this.measures = parts.measures;
    this.events = parts.events;
    this.tools = parts.tools;
  }

  /** @internal Serves the dashboard, and listens to the signal for dumps. */
  protected async serve({ dashboard, configured, signal }: Serving): Promise<void> {
    const { live } = this;
    if (signal !== undefined) {
      const { dumpOnSignal } = await import('./dumpOnSignal.js');
      this.#endDumping = dumpOnSignal(this.engine, signal);
    }
    if (dashboard !== undefined && live !== undefined) {
      const { startDashboard } = await import('./dashboard.js');
      this.#dashboardLink = await startDashboard(this, live, dashboard);
    } else if (configured !== undefined && live !== undefined) {
      const { startConfiguredDashboard } = await import('./dashboard.js');
      this.#dashboardLink = await startConfiguredDashboard(this, live, configured);
    }
  }

  /** What to open in a browser; undefined without a dashboard. */
  get dashboardLink(): string | undefined {
    return this.#dashboardLink;
  }

  /** Workers that are there or on their way. */
  get size(): number {
    return this.places.size;
  }

  /** Names of the workers. */
  get workers(): readonly string[] {
    return this.places.workers.map(({ info }) => info.name);
  }

  /** E.g. `<LocalCluster: 4 threads, 8 GB, http://127.0.0.1:8787/>`. */
  toString(): string {
    return `<${this.kind}: ${this.summary}>`;
  }

  [INSPECT](): string {
    return this.toString();
  }

  /** @internal For texts of the cluster and of its clients. */
  get summary(): string {
    if (this.isClosed) return 'closed';
    const workers = this.places.workers;
    const memory = workers.reduce((sum, { info }) => sum + info.memoryLimit, 0);
    const kind = this.engine.options.threads ? 'thread' : 'process';
    const count = `${workers.length} ${workers.length === 1 ? kind : kind === 'thread' ? 'threads' : 'processes'}`;
    return [
      count,
      memory > 0 ? bytesText(memory) : 'no memory limit',
      this.#dashboardLink ?? 'no dashboard',
    ].join(', ');
  }

  /** @internal */
  async restartWorkers(workers: readonly EngineWorker[]): Promise<void> {
    const wanted = new Set(workers.map(({ info }) => info));
    const restarting = this.places.workers.filter(({ info }) => wanted.has(info));
    const restarted = Promise.all(
      restarting.map((worker) => this.places.restart(worker, 'It was restarted, and another has its place.')),
    );
    await this.engine.waits.during(`${this.kind}.restartWorkers`, `${workers.length} workers`, restarted);
  }

  /**
   * @internal Resolves when whoever observes has what was sampled so far, or after some seconds: workers may be in a native
   * call, or stopped.
   */
  async flushProfiles(patienceMs = FLUSH_MS): Promise<void> {
    const { waits } = this.engine;
    const workers = Array.from(this.engine.workers.values(), ({ host, info }) =>
      waits.during('flush of measures', info.name, host.flush()),
    );
    const scheduler = waits.during('flush of measures', 'the scheduler', this.measures.flush());
    await within(patienceMs, Promise.all([scheduler, ...workers]));
  }

  /** @internal */
  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** @internal Throws ERR_LONGPOLE_CLOSED. */
  checkOpen(): void {
    if (!this.isClosed) return;
    throw new LongpoleError('ERR_LONGPOLE_CLOSED', 'The cluster is closed. Start a new one.');
  }

  /** @internal Runs before the workers end. */
  onClose(close: () => Promise<void> | void): void {
    this.#closing.push(close);
  }

  /** Ends all workers and removes their files. What is pending is cancelled. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stalls.close();
    this.engine.failEverything(
      new LongpoleError('ERR_LONGPOLE_FUTURE', 'The cluster was closed before the result was there.'),
    );
    const step = (name: string, work: Promise<void> | void): Promise<void> =>
      this.engine.waits.during(`${this.kind}.close`, name, Promise.resolve(work));
    await step('flush of measures', this.flushProfiles(LAST_FLUSH_MS));
    for (const close of this.#closing) await step('recordings, the dashboard and observers', close());
    this.measures.close();
    this.plugins.close();
    this.#resources.close();
    await step('end of the workers', this.places.close());
    this.engine.close();
    await step('stores of results', this.stores.close());
    // Last, so that a close that hangs can be dumped.
    this.#endDumping();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
