// The common base of clusters: the engine, its observers, the dashboard, and the order in which they are closed.
import { invalidArgument, LongpoleError } from '../../base/errors.js';
import { Printed } from '../../base/printed.js';
import { bytesText } from '../../base/words.js';
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import { cuttingOff, reportUnfinished } from '../../engine/cluster/cutOffTasks.js';
import { type EngineWorker, isCalled } from '../../engine/cluster/engineWorker.js';
import { within } from '../../engine/within.js';
import { reportAtExit } from '../../files/exitFlush.js';
import { CLUSTER } from '../../protocol/eventTopics.js';
import type { AdaptOptions } from './adaptive.js';
import { type ClosingStep, ClosingSteps } from './closingSteps.js';
import type { Serving } from './clusterOptions.js';
import type { ClusterParts } from './clusterParts.js';

/** Milliseconds that workers have to send their samples and metrics. */
const FLUSH_MS = 10_000;
/** Milliseconds that workers have to send their samples and metrics while the cluster closes. */
const LAST_FLUSH_MS = 3000;

/** A LocalCluster or a DaskCluster. */
export abstract class Cluster extends Printed {
  /** @internal Name of the kind of cluster, for dashboards and clients. */
  abstract readonly kind: 'LocalCluster' | 'DaskCluster';
  /** @internal */
  readonly engine: ClusterEngine;
  /** @internal */
  readonly parts: ClusterParts;
  /** @internal Numbers of clients that have connected and closed. */
  readonly clients = { added: 0, removed: 0 };
  #dashboardLink: string | undefined;
  readonly #closing = new ClosingSteps();
  #closed: Promise<void> | undefined;
  #endDumping: () => void = () => undefined;
  readonly #endReporting: () => void;

  protected constructor(parts: ClusterParts) {
    super();
    if (parts?.engine === undefined)
      throw invalidArgument(
        'new LocalCluster() does not start workers. Write `await LocalCluster.start({ workers: 4 })`.',
      );
    this.engine = parts.engine;
    this.engine.questions.handle('cluster', () => ({
      text: this.toString(),
      threads: this.engine.options.threads,
    }));
    this.parts = parts;
    this.#endReporting = reportAtExit(() => reportUnfinished(this.engine));
  }

  /** @internal Starts the dashboard, and listens for the dump signal. */
  protected async serve({ dashboard, configured, signal }: Serving): Promise<void> {
    const { live } = this.parts;
    if (signal !== undefined) {
      const { dumpOnSignal } = await import('./dumpOnSignal.js');
      this.#endDumping = dumpOnSignal(this.engine, signal);
    }
    if (dashboard !== undefined && live !== undefined) {
      const { startDashboard } = await import('./dashboard.js');
      this.#dashboardLink = await startDashboard(this, live, dashboard);
    } else if (configured !== undefined && live !== undefined) {
      const { startAtFreePort, startDashboard } = await import('./dashboard.js');
      // If the dashboard cannot start, the cluster runs without one, and the event has the error.
      const event = (topic: string, text: string): void => this.engine.event(topic, text);
      const start = (port: number): Promise<string> => startDashboard(this, live, { port });
      this.#dashboardLink = await startAtFreePort(configured, start, event);
    }
  }

  /** @internal Reports the start, after which the first workers are up, as two events. `begun` is from `epochSeconds`. */
  protected reportStart(begun: number): void {
    this.engine.event(CLUSTER.begin, 'The cluster is starting.', -1, begun);
    this.engine.event(CLUSTER.end, 'The cluster has started.');
  }

  /** Link of the dashboard; undefined if the cluster has none. */
  get dashboardLink(): string | undefined {
    return this.#dashboardLink;
  }

  /** Number of workers, including those that are starting. */
  get size(): number {
    return this.parts.places.size;
  }

  /** Names of the workers. */
  get workers(): readonly string[] {
    return this.parts.places.workers.map(({ info }) => info.name);
  }

  /** Returns a text such as `<LocalCluster: 4 threads, 8 GB, http://127.0.0.1:8787/>`. */
  override toString(): string {
    return `<${this.kind}: ${this.summary}>`;
  }

  /** @internal Text for `toString` of the cluster and its clients. */
  get summary(): string {
    if (this.isClosed) return 'closed';
    const workers = this.parts.places.workers;
    const memory = workers.reduce((sum, { info }) => sum + info.memoryLimit, 0);
    const kind = this.engine.options.threads ? 'thread' : 'process';
    const count = `${workers.length} ${workers.length === 1 ? kind : kind === 'thread' ? 'threads' : 'processes'}`;
    return [
      count,
      memory > 0 ? bytesText(memory) : 'no memory limit',
      this.#dashboardLink ?? 'no dashboard',
    ].join(', ');
  }

  /** @internal Implements `Client.adapt`. */
  abstract adapt(options: AdaptOptions): Promise<void>;

  /** @internal Starts a worker if an adaptive cluster has none. Returns a function after which the last worker may leave. */
  async holdWorker(): Promise<() => void> {
    return () => undefined;
  }

  /**
   * @internal Returns the workers with these names or addresses, each once, or all for undefined. Workers that are
   *   leaving do not count.
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for an unknown name
   */
  namedWorkers(wanted: string | readonly string[] | undefined): readonly EngineWorker[] {
    const workers = [...this.engine.workers.values()].filter(({ isLeaving }) => !isLeaving);
    if (wanted === undefined) return workers;
    const names = typeof wanted === 'string' ? [wanted] : wanted;
    const named = names.map((name) => {
      const found = workers.find((worker) => isCalled(worker, name));
      if (found !== undefined) return found;
      const known = this.workers.join(', ');
      throw invalidArgument(`workers: there is no worker '${name}'. The workers are: ${known}.`);
    });
    return [...new Set(named)];
  }

  /** @internal */
  async restartWorkers(workers: readonly EngineWorker[]): Promise<void> {
    const wanted = new Set(workers.map(({ info }) => info));
    const restarting = this.parts.places.workers.filter(({ info }) => wanted.has(info));
    const restarted = Promise.all(
      restarting.map((worker) => this.parts.places.restart(worker, 'The worker was restarted.')),
    );
    await this.engine.waits.during(`${this.kind}.restartWorkers`, `${workers.length} workers`, restarted);
  }

  /**
   * @internal Resolves when observers have received the samples and metrics so far, or after `patienceMs`, because a
   *   worker may be in a native call or stopped.
   */
  async flushProfiles(patienceMs = FLUSH_MS): Promise<void> {
    const { waits } = this.engine;
    const workers = Array.from(this.engine.workers.values(), ({ host, info }) =>
      waits.during('flush of measures', info.name, host.flush()),
    );
    const scheduler = waits.during('flush of measures', 'the scheduler', this.parts.measures.flush());
    await within(patienceMs, Promise.all([scheduler, ...workers]));
  }

  /** @internal */
  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** @internal @throws LongpoleError ERR_LONGPOLE_CLOSED */
  checkOpen(): void {
    if (!this.isClosed) return;
    throw new LongpoleError('ERR_LONGPOLE_CLOSED', 'The cluster is closed. Start a new one.');
  }

  /** @internal Registers a function to call before the workers end. Returns a function that removes it. */
  onClose(step: ClosingStep): () => void {
    return this.#closing.add(step);
  }

  /**
   * Cancels pending computations, ends all workers and removes their files.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_TRACE_FILE if a recording could not be written. The cluster is closed then,
   *   too
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.parts.stalls.close();
    const early = new LongpoleError(
      'ERR_LONGPOLE_CLOSED',
      'The cluster was closed before the result was available. Await results before you close the cluster.',
    );
    cuttingOff(this.engine, 'cluster', true, () => this.engine.failEverything(early));
    // The program may end while the cluster closes. Its unfinished tasks are reported already.
    this.#endReporting();
    const closed = new LongpoleError(
      'ERR_LONGPOLE_CLOSED',
      'The cluster was closed while this call waited. Await every call before you close the cluster.',
    );
    this.engine.questions.close(closed);
    this.engine.coordination.close(closed);
    const step = (name: string, work: Promise<void> | void): Promise<void> =>
      this.engine.waits.during(`${this.kind}.close`, name, Promise.resolve(work));
    await step('flush of measures', this.flushProfiles(LAST_FLUSH_MS));
    try {
      await this.#closing.run((work) => step('recordings, the dashboard and observers', work));
    } finally {
      this.parts.measures.close();
      this.parts.plugins.close();
      this.parts.stopResources();
      await step('end of the workers', this.parts.places.close());
      this.engine.close();
      this.parts.stopWatching();
      await step('stores of results', this.parts.stores.close());
      // Last, so that a close that hangs can be dumped.
      this.#endDumping();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
