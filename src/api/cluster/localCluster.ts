// LocalCluster: workers on this machine, threads or processes, and the scheduler that feeds them.
import { checkCount, checkOptions } from '../../base/arguments.js';
import type { WorkerInfo } from '../../protocol/clusterObserver.js';
import { config } from '../config.js';
import { isImportedByWorker } from '../runPlan.js';
import { Cluster } from './cluster.js';
import { CLUSTER_OPTIONS, clusterSettings, type LocalClusterOptions, servingOf } from './clusterOptions.js';

/**
 * A cluster on this machine. It keeps the program alive only while tasks run or somebody waits for an answer; closing it ends
 * its workers and removes their files at once.
 *
 *     await using cluster = await LocalCluster.start({ workers: 4 });
 *     await using client = await connect(cluster);
 */
export class LocalCluster extends Cluster {
  readonly kind = 'LocalCluster';

  /**
   * Starts the workers; resolves when all are up.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_LOCAL_DIRECTORY,
   *   ERR_LONGPOLE_WORKER_START, ERR_LONGPOLE_DASHBOARD, ERR_LONGPOLE_PAGE_FILE
   */
  static async start(options: LocalClusterOptions = {}): Promise<LocalCluster> {
    // A script that starts a cluster is imported by its workers, too: there it halts here.
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
    // From here on nothing of the settings is read: a program may change them while this is loaded.
    const { makeClusterParts } = await import('./clusterParts.js');
    const cluster = new LocalCluster(makeClusterParts(partsOptions));
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
   * Brings the number of workers to `workers`. Those that leave finish what they run and hand their results on.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_WORKER_START, ERR_LONGPOLE_CLOSED
   */
  async scale(workers: number): Promise<void> {
    this.checkOpen();
    const scaled = this.places.scale(checkCount('workers', workers));
    await this.engine.waits.during('LocalCluster.scale', `${workers} workers`, scaled);
  }

  #limitLifetimes(seconds: number): void {
    // One that could not be replaced is left alone for another lifetime.
    const tried = new WeakMap<WorkerInfo, number>();
    const look = setInterval(
      () => {
        if (this.isClosed) return;
        const now = this.engine.clock();
        const old = this.places.workers.find(
          ({ info }) => now - (tried.get(info) ?? info.startTime) > seconds,
        );
        if (old === undefined) return;
        tried.set(old.info, now);
        this.places
          .restart(old, 'It was there for its lifetime, and another has its place.')
          .catch((error: unknown) => this.engine.event('worker-lifetime', String(error), old.info.index));
      },
      Math.min(1000, seconds * 250),
    );
    look.unref();
    this.onClose(() => clearInterval(look));
  }
}
