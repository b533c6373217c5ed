// LocalCluster: workers on this machine, threads or processes, and the scheduler that feeds them.
import { availableParallelism, freemem, totalmem } from 'node:os';
import { LongpoleError } from '../../base/errors.js';
import { readBytes, readSetting } from '../../base/settings.js';
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import type { ClusterResources } from '../../engine/cluster/clusterResources.js';
import type { ClusterStores } from '../../engine/cluster/clusterStores.js';
import type { SchedulerPlugins } from '../../engine/cluster/schedulerPlugins.js';
import type { StallWatch } from '../../engine/cluster/stallWatch.js';
import type { WorkerPlaces } from '../../engine/cluster/workerPlaces.js';
import type { MemoryThresholds } from '../../engine/store/memoryMonitor.js';
import { within } from '../../engine/within.js';
import type { WorkerInfo } from '../../protocol/clusterObserver.js';
import type { ProfileSettings } from '../../protocol/profileCycle.js';
import type { LiveTrace } from '../../trace/live/liveTrace.js';
import { checkCount, invalid } from '../argumentChecks.js';
import { config } from '../config.js';
import { isImportedByWorker } from '../runPlan.js';
import type { ClientTools } from './clientTools.js';
import type { ClusterParts } from './clusterParts.js';
import { ConnectedClients } from './connectedClients.js';
import type { DashboardOptions } from './dashboard.js';
import type { Measures } from './measures.js';

export interface LocalClusterOptions {
  /** How many. Default: one per core. Minimum 1. */
  readonly workers?: number;
  /** Worker processes instead of worker threads. Default false. */
  readonly processes?: boolean;
  /** Memory per worker in bytes, or as `'2GB'`, `'500 MiB'`; 0: no limit. Default: this machine's, divided by the workers. */
  readonly memoryLimit?: number | string;
  /** Shares of the limit at which a worker spills, pauses and ends. */
  readonly memory?: Partial<MemoryThresholds>;
  /** Where workers keep spilled results. Default: a directory of its own below that for temporary files. */
  readonly localDirectory?: string;
  /** What each worker offers to tasks that ask for resources, e.g. `{ GPU: 1 }`. */
  readonly resources?: Readonly<Record<string, number>>;
  /** How often a task may be running when its worker dies. Default 3, minimum 1. */
  readonly allowedFailures?: number;
  /**
   * How the statistical profiler samples workers and the scheduler, in seconds; false: not at all. Default: the settings
   * `profile`, `profile-interval` (0.01) and `profile-cycle-interval` (1).
   */
  readonly profile?: { readonly interval?: number; readonly cycleInterval?: number } | false;
  /**
   * Seconds after which a worker is replaced by a new one, once it has finished what it has. Default: never. While no new one
   * can be started, the old one stays.
   */
  readonly lifetime?: number;
  /**
   * Seconds after which a worker process of which nothing is heard, not even its heartbeat, is replaced, and what it did is
   * done again; false: never. After as long, at least 180 s, computations fail in which nothing happens although tasks could run.
   * Default: the setting `worker-ttl`, which is 300.
   */
  readonly workerTtl?: number | string | false;
  /** Keeps the live trace. Default true: it costs less than a tenth of a microsecond per task. A dashboard needs it. */
  readonly record?: boolean;
  /** Serves the dashboard; `dashboardLink` says where. Default: the setting `dashboard`, which is false. */
  readonly dashboard?: boolean | DashboardOptions;
}

/** How long workers have to tell what they have sampled; and the last time, before they end, in milliseconds. */
const FLUSH_MS = 10_000;
const LAST_FLUSH_MS = 3000;

/**
 * A cluster on this machine. It keeps the program alive only while tasks run or somebody waits for an answer; closing it ends
 * its workers and removes their files at once.
 *
 *     await using cluster = await LocalCluster.start({ workers: 4 });
 *     await using client = await connect(cluster);
 */
export class LocalCluster {
  /** @internal */
  readonly engine: ClusterEngine;
  /** @internal Undefined with `record: false`. */
  readonly live: LiveTrace | undefined;
  /** @internal */
  readonly plugins: SchedulerPlugins;
  readonly #places: WorkerPlaces;
  /** @internal */
  readonly stores: ClusterStores;
  readonly #resources: ClusterResources;
  readonly #stalls: StallWatch;
  /** @internal */
  readonly measures: Measures;
  /** @internal */
  readonly tools: ClientTools;
  /** @internal */
  readonly clients = new ConnectedClients();
  #dashboardLink: string | undefined;
  readonly #lifetimes = new Set<NodeJS.Timeout>();
  readonly #closing: (() => Promise<void> | void)[] = [];
  #closed: Promise<void> | undefined;
  #endDumping: () => void = () => undefined;

  private constructor(parts: ClusterParts) {
    this.engine = parts.engine;
    this.live = parts.live;
    this.plugins = parts.plugins;
    this.#places = parts.places;
    this.stores = parts.stores;
    this.#resources = parts.resources;
    this.#stalls = parts.stalls;
    this.measures = parts.measures;
    this.tools = parts.tools;
  }

  /**
   * Starts the workers; resolves when all are up.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_LOCAL_DIRECTORY,
   *   ERR_LONGPOLE_WORKER_START, ERR_LONGPOLE_DASHBOARD, ERR_LONGPOLE_PAGE_FILE
   */
  static async start(options: LocalClusterOptions = {}): Promise<LocalCluster> {
    // A script that starts a cluster is imported by its workers, too: there it halts here.
    if (isImportedByWorker()) return new Promise(() => undefined);
    warnOfUnknown(options);
    const workers = checkCount('workers', options.workers ?? config.get('workers') ?? availableParallelism());
    const processes = options.processes ?? config.get('processes');
    if (typeof processes !== 'boolean') throw invalid('processes', processes, 'true or false');
    const allowedFailures = checkCount('allowedFailures', options.allowedFailures ?? 3);
    const settings = {
      memoryLimit: memoryLimit(options.memoryLimit ?? config.get('memory-limit'), workers),
      thresholds: {
        target: config.get('memory-target'),
        spill: config.get('memory-spill'),
        pause: config.get('memory-pause'),
        terminate: config.get('memory-terminate'),
        ...options.memory,
      },
      profile: profileSettings(options.profile),
      resources: resourcesOf(options.resources ?? {}),
      ttl: readSetting(
        'worker-ttl',
        options.workerTtl ?? config.get('worker-ttl'),
        'LocalCluster: workerTtl',
      ),
    };
    const dashboard = options.dashboard === true ? {} : options.dashboard || undefined;
    const configured =
      options.dashboard === undefined && config.get('dashboard') ? config.get('dashboard-port') : undefined;
    const partsOptions = {
      threads: !processes,
      allowedFailures,
      settings,
      localDirectory: options.localDirectory ?? config.get('local-directory'),
      record: options.record !== false || dashboard !== undefined,
    };
    const signal = config.get('dump-signal');
    // From here on nothing of the settings is read: a program may change them while this is loaded.
    const { makeClusterParts } = await import('./clusterParts.js');
    const cluster = new LocalCluster(makeClusterParts(partsOptions));
    const { live } = cluster;
    try {
      if (signal !== undefined) {
        const { dumpOnSignal } = await import('./dumpOnSignal.js');
        cluster.#endDumping = dumpOnSignal(cluster.engine, signal);
      }
      if (dashboard !== undefined && live !== undefined) {
        const { startDashboard } = await import('./dashboard.js');
        cluster.#dashboardLink = await startDashboard(cluster, live, dashboard);
      } else if (configured !== undefined && live !== undefined) {
        const { startConfiguredDashboard } = await import('./dashboard.js');
        cluster.#dashboardLink = await startConfiguredDashboard(cluster, live, configured);
      }
      await cluster.engine.waits.during(
        'LocalCluster.start',
        `${workers} workers`,
        cluster.#places.scale(workers),
      );
    } catch (error) {
      await cluster.close();
      throw error;
    }
    if (options.lifetime !== undefined) cluster.#limitLifetimes(options.lifetime);
    return cluster;
  }

  /** What to open in a browser; undefined without a dashboard. */
  get dashboardLink(): string | undefined {
    return this.#dashboardLink;
  }

  /** Workers that are there or on their way. */
  get size(): number {
    return this.#places.size;
  }

  /** Names of the workers. */
  get workers(): readonly string[] {
    return this.#places.workers.map(({ info }) => info.name);
  }

  /**
   * Brings the number of workers to `workers`. Those that leave finish what they run and hand their results on.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_WORKER_START, ERR_LONGPOLE_CLOSED
   */
  async scale(workers: number): Promise<void> {
    this.checkOpen();
    const scaled = this.#places.scale(checkCount('workers', workers));
    await this.engine.waits.during('LocalCluster.scale', `${workers} workers`, scaled);
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
    for (const timer of this.#lifetimes) clearInterval(timer);
    this.#stalls.close();
    this.engine.failEverything(
      new LongpoleError('ERR_LONGPOLE_FUTURE', 'The cluster was closed before the result was there.'),
    );
    const step = (name: string, work: Promise<void> | void): Promise<void> =>
      this.engine.waits.during('LocalCluster.close', name, Promise.resolve(work));
    await step('flush of measures', this.flushProfiles(LAST_FLUSH_MS));
    for (const close of this.#closing) await step('recordings, the dashboard and observers', close());
    this.measures.close();
    this.plugins.close();
    this.#resources.close();
    await step('end of the workers', this.#places.close());
    this.engine.close();
    await step('stores of results', this.stores.close());
    // Last, so that a close that hangs can be dumped.
    this.#endDumping();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #limitLifetimes(seconds: number): void {
    if (!(seconds > 0)) throw invalid('lifetime', seconds, 'seconds above 0');
    // One that could not be replaced is left alone for another lifetime.
    const tried = new WeakMap<WorkerInfo, number>();
    const look = setInterval(
      () => {
        const now = this.engine.clock();
        const old = this.#places.workers.find(
          ({ info }) => now - (tried.get(info) ?? info.startTime) > seconds,
        );
        if (old === undefined) return;
        tried.set(old.info, now);
        this.#places
          .restart(old)
          .catch((error: unknown) => this.engine.event('worker-lifetime', String(error), old.info.index));
      },
      Math.min(1000, seconds * 250),
    );
    look.unref();
    this.#lifetimes.add(look);
  }
}

function profileSettings(option: LocalClusterOptions['profile']): ProfileSettings | undefined {
  if (option === false || (option === undefined && !config.get('profile'))) return undefined;
  const where = 'LocalCluster: profile';
  const { interval = config.get('profile-interval'), cycleInterval = config.get('profile-cycle-interval') } =
    option ?? {};
  return {
    interval: readSetting('profile-interval', interval, `${where}.interval`),
    cycleInterval: readSetting('profile-cycle-interval', cycleInterval, `${where}.cycleInterval`),
  };
}

function memoryLimit(option: number | string | undefined, workers: number): number {
  if (option === undefined) return Math.floor(Math.max(totalmem() * 0.9, freemem()) / workers);
  const bytes = typeof option === 'number' ? option : readBytes(option);
  if (bytes === undefined || !(bytes >= 0))
    throw invalid('memoryLimit', option, "bytes, or a text such as '2GB' or '500 MiB'");
  return bytes;
}

/** What each worker has of each resource. */
function resourcesOf(option: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  for (const [name, amount] of Object.entries(option))
    if (typeof amount !== 'number' || !(amount > 0))
      throw invalid(`resources.${name}`, amount, 'a number above 0');
  return new Map(Object.entries(option));
}

const OPTION_NAMES: Readonly<Record<keyof LocalClusterOptions, true>> = {
  workers: true,
  processes: true,
  memoryLimit: true,
  memory: true,
  localDirectory: true,
  resources: true,
  allowedFailures: true,
  profile: true,
  lifetime: true,
  workerTtl: true,
  record: true,
  dashboard: true,
};

/** A name that nobody knows is a mistake, e.g. `numWorkers`; it is told, and the cluster starts without it. */
function warnOfUnknown(options: LocalClusterOptions): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(OPTION_NAMES, name)) continue;
    process.emitWarning(
      `${name} is no option of a cluster and does nothing. There are ${Object.keys(OPTION_NAMES).join(', ')}.`,
      {
        type: 'LongpoleWarning',
        code: 'LONGPOLE_UNKNOWN_OPTION',
      },
    );
  }
}
