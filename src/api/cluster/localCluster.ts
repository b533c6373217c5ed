// `LocalCluster`: a scheduler in this process, and workers on this machine, as threads or processes.
import { checkCount, checkNoMore, checkOptions } from '../../base/arguments.js';
import { checkRuntime } from '../../engine/checkRuntime.js';
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import { desiredWorkers } from '../../engine/scheduler/desiredWorkers.js';
import type { WorkerInfo } from '../../protocol/clusterObserver.js';
import { epochSeconds } from '../../resources/clock.js';
import { isImportedByWorker } from '../runPlan.js';
import { Adaptive, type AdaptOptions, adaptSettings } from './adaptive.js';
import { Cluster } from './cluster.js';
import { CLUSTER_OPTIONS, clusterSettings, type LocalClusterOptions } from './clusterOptions.js';

/**
 * A cluster on this machine. It keeps the program alive only while tasks run or calls wait. `close()` ends the workers
 * and removes their files.
 *
 *     await using cluster = await LocalCluster.start({ workers: 4 });
 *     await using client = await connect(cluster);
 */
export class LocalCluster extends Cluster {
  readonly kind = 'LocalCluster';
  #adaptive: Adaptive | undefined;
  /** Number of calls that need a worker. */
  #holds = 0;

  /**
   * Starts a cluster.
   *
   * @returns (resolves) the cluster when all workers are up
   * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_CONFIG, ERR_LONGPOLE_LOCAL_DIRECTORY,
   *   ERR_LONGPOLE_WORKER_START, ERR_LONGPOLE_DASHBOARD, ERR_LONGPOLE_PAGE_FILE, ERR_LONGPOLE_INSTALLATION
   * @source Dask, `distributed.LocalCluster`
   */
  static async start(options: LocalClusterOptions = {}): Promise<LocalCluster> {
    // Workers import the script of the program, too. There the script waits here forever, instead of starting a cluster.
    if (isImportedByWorker()) return new Promise(() => undefined);
    checkOptions('LocalCluster', options, CLUSTER_OPTIONS);
    const begun = epochSeconds();
    const { workers, serving, ...settings } = clusterSettings(options);
    checkRuntime();
    // Settings are read above, because the program may change them during these imports.
    const booting = settings.threads ? undefined : await bootWorkers(workers);
    let cluster: LocalCluster | undefined;
    try {
      const [{ makeClusterParts }, { serveTasks }] = await Promise.all([
        import('./clusterParts.js'),
        import('./servedTasks.js'),
      ]);
      cluster = new LocalCluster(makeClusterParts({ ...settings, open: booting?.open }));
      serveTasks(cluster);
      await cluster.serve(serving);
      const scaled = cluster.parts.places.scale(workers);
      await cluster.engine.waits.during('LocalCluster.start', `${workers} workers`, scaled);
      cluster.reportStart(begun);
    } catch (error) {
      await cluster?.close();
      throw error;
    } finally {
      booting?.end();
    }
    if (options.lifetime !== undefined) cluster.#limitLifetimes(options.lifetime);
    return cluster;
  }

  /**
   * Starts or removes workers until there are `workers`. Removed workers finish their running tasks and hand over their
   * results. Ends `adapt`.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_WORKER_START, ERR_LONGPOLE_CLOSED
   * @source Dask, `LocalCluster.scale`
   */
  scale(workers: number): Promise<void>;
  async scale(workers: number, ...more: readonly unknown[]): Promise<void> {
    checkNoMore('LocalCluster.scale', more, 'Pass the number of workers.');
    this.checkOpen();
    const count = checkCount('workers', workers);
    this.#endAdapting();
    const scaled = this.parts.places.scale(count);
    await this.engine.waits.during('LocalCluster.scale', `${workers} workers`, scaled);
  }

  /**
   * Adapts the number of workers to the load from now on, until `scale` or `close`. A check every `interval` seconds
   * starts as many workers as would do the present work in `targetDuration`. If `waitCount` checks in a row find too many
   * workers, those with the fewest tasks finish them, hand over their results and leave. A further call replaces the
   * settings.
   *
   * @returns (resolves) when the number of workers is within its limits
   * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_WORKER_START, ERR_LONGPOLE_CLOSED
   * @source Dask, `Cluster.adapt`
   */
  async adapt(options: AdaptOptions = {}): Promise<void> {
    this.checkOpen();
    const settings = adaptSettings('adapt()', options);
    const { state } = this.engine.scheduler;
    const { places, engine } = this.parts;
    this.#endAdapting();
    state.addsWorkers = true;
    const adaptive = new Adaptive(
      {
        get size() {
          return places.size;
        },
        // The last worker has no other to which it could hand over its results.
        wanted: (target) =>
          Math.max(
            state.storedCount > 0 || this.#holds > 0 ? 1 : 0,
            desiredWorkers(state, { target, running: runningFor(engine), leaving: leavingOf(engine) }),
          ),
        scale: (size) => places.scaleByLoad(size),
        failed: (error) => engine.event('adapt-failed', String(error)),
      },
      settings,
    );
    this.#adaptive = adaptive;
    const { minimum, maximum } = settings;
    const what = `${minimum} to ${maximum} workers`;
    try {
      await engine.waits.during('LocalCluster.adapt', what, adaptive.begin());
    } catch (error) {
      if (this.#adaptive === adaptive) this.#endAdapting();
      throw error;
    }
  }

  /** @internal */
  override async holdWorker(): Promise<() => void> {
    this.#holds++;
    try {
      if (this.#adaptive !== undefined && this.size === 0) await this.parts.places.scale(1);
    } catch (error) {
      this.#holds--;
      throw error;
    }
    return () => void this.#holds--;
  }

  override close(): Promise<void>;
  override async close(...more: readonly unknown[]): Promise<void> {
    checkNoMore(
      'LocalCluster.close',
      more,
      'It returns a promise that resolves when the workers have ended.',
    );
    this.#endAdapting();
    return super.close();
  }

  #endAdapting(): void {
    this.#adaptive?.end();
    this.#adaptive = undefined;
    this.engine.scheduler.state.addsWorkers = false;
  }

  #limitLifetimes(seconds: number): void {
    // If a worker cannot be replaced, the next attempt follows after another lifetime.
    const tried = new WeakMap<WorkerInfo, number>();
    const timer = setInterval(
      () => {
        if (this.isClosed) return;
        const now = this.engine.clock();
        const old = this.parts.places.workers.find(
          ({ info }) => now - (tried.get(info) ?? info.startTime) > seconds,
        );
        if (old === undefined) return;
        tried.set(old.info, now);
        this.parts.places
          .restart(old, 'The worker has reached its lifetime and was replaced.')
          .catch((error: unknown) => this.engine.event('worker-lifetime', String(error), old.info.index));
      },
      Math.min(1000, seconds * 250),
    );
    timer.unref();
    this.onClose(() => clearInterval(timer));
  }
}

/** Returns the indices of the workers that leave. */
function leavingOf({ workers }: ClusterEngine): ReadonlySet<number> {
  const leaving = [...workers.values()].filter(({ isLeaving }) => isLeaving);
  return new Set(leaving.map(({ info }) => info.index));
}

/** Starts worker processes, which boot while this program loads the code of a cluster. */
async function bootWorkers(count: number) {
  const { BootingWorkers } = await import('../../engine/workerProcess/workerChannel.js');
  return new BootingWorkers(count);
}

/** Returns the seconds for which the longest running task of each function runs, by the number of the function. */
function runningFor(engine: ClusterEngine): Map<number, number> {
  const seconds = new Map<number, number>();
  const now = engine.clock();
  for (const { host } of engine.workers.values()) {
    const segment = host.running && engine.computation(host.running.run)?.segment;
    if (host.running === undefined || segment === undefined) continue;
    const fn = engine.scheduler.state.graph.functionOf[segment.base + host.running.id]!;
    seconds.set(fn, Math.max(seconds.get(fn) ?? 0, now - host.running.since));
  }
  return seconds;
}
