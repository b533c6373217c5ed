// `LocalCluster`: a scheduler in this process, and workers on this machine, as threads or processes.
import { checkCount, checkOptions } from '../../base/arguments.js';
import type { WorkerInfo } from '../../protocol/clusterObserver.js';
import { config } from '../config.js';
import { isImportedByWorker } from '../runPlan.js';
import { Cluster } from './cluster.js';
import { CLUSTER_OPTIONS, clusterSettings, type LocalClusterOptions, servingOf } from './clusterOptions.js';
import { serveTasks } from './servedTasks.js';

/**
 * A cluster on this machine. It keeps the program alive only while tasks run or calls wait. `close()` ends the workers
 * and removes their files.
 *
 *     await using cluster = await LocalCluster.start({ workers: 4 });
 *     await using client = await connect(cluster);
 */
export class LocalCluster extends Cluster {
  readonly kind = 'LocalCluster';

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
    const { workers, threads, allowedFailures, settings } = clusterSettings(options);
    const serving = servingOf(options);
    const partsOptions = {
      threads,
      allowedFailures,
      settings,
      localDirectory: options.localDirectory ?? config.get('local-directory'),
      record: options.record !== false || serving.dashboard !== undefined,
    };
    // Settings are read above, because the program may change them during this import.
    const { makeClusterParts } = await import('./clusterParts.js');
    const cluster = new LocalCluster(makeClusterParts(partsOptions));
    serveTasks(cluster);
    try {
      await cluster.serve(serving);
      await cluster.engine.waits.during(
        'LocalCluster.start',
        `${workers} workers`,
        cluster.places.scale(workers),
      );
    } catch (error) {
      await cluster.close();
      throw error;
    }
    if (options.lifetime !== undefined) cluster.#limitLifetimes(options.lifetime);
    return cluster;
  }

  /**
   * Starts or removes workers until there are `workers`. Removed workers finish their running tasks and hand over their
   * results.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_WORKER_START, ERR_LONGPOLE_CLOSED
   * @source Dask, `LocalCluster.scale`
   */
  async scale(workers: number): Promise<void> {
    this.checkOpen();
    const scaled = this.places.scale(checkCount('workers', workers));
    await this.engine.waits.during('LocalCluster.scale', `${workers} workers`, scaled);
  }

  #limitLifetimes(seconds: number): void {
    // If a worker cannot be replaced, the next attempt follows after another lifetime.
    const tried = new WeakMap<WorkerInfo, number>();
    const timer = setInterval(
      () => {
        if (this.isClosed) return;
        const now = this.engine.clock();
        const old = this.places.workers.find(
          ({ info }) => now - (tried.get(info) ?? info.startTime) > seconds,
        );
        if (old === undefined) return;
        tried.set(old.info, now);
        this.places
          .restart(old, 'The worker has reached its lifetime and was replaced.')
          .catch((error: unknown) => this.engine.event('worker-lifetime', String(error), old.info.index));
      },
      Math.min(1000, seconds * 250),
    );
    timer.unref();
    this.onClose(() => clearInterval(timer));
  }
}
