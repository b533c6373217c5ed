// Delivers the resource samples of a cluster: this process as the host, and the present workers.
import type { ResourceSample } from '../protocol/clusterObserver.js';
import { ResourceMonitor, type ResourceWatch, type WatchOptions } from './resourceMonitor.js';
import { HOST, type MonitorTarget } from './usageSampler.js';
import { makeVitals, Vitals } from './vitals.js';

export class ResourceFeed {
  readonly #workers: () => readonly MonitorTarget[];
  readonly #host: MonitorTarget;
  readonly #vitals: Vitals;
  readonly #monitor = ResourceMonitor.shared();
  readonly #watch: ResourceWatch;
  #watched: readonly MonitorTarget[];

  /**
   * Starts sampling at once. Calls `workers` before each sample, to follow new, ended and restarted workers.
   *
   * @throws ERR_LONGPOLE_WORKER_START if the system refuses a thread
   */
  constructor(
    workers: () => readonly MonitorTarget[],
    deliver: (sample: ResourceSample) => void,
    options?: WatchOptions,
  ) {
    const vitals = makeVitals();
    this.#workers = workers;
    this.#vitals = new Vitals(vitals);
    this.#host = { worker: HOST, pid: process.pid, thread: false, vitals };
    this.#watched = [this.#host, ...workers()];
    const take = (samples: readonly ResourceSample[]): void => {
      for (const sample of samples) deliver(sample);
      this.refresh();
    };
    this.#watch = this.#monitor.watch(this.#watched, take, options);
  }

  /** Updates the list of workers. */
  refresh(): void {
    const targets = [this.#host, ...this.#workers()];
    const same =
      targets.length === this.#watched.length &&
      targets.every((target, index) => isSame(target, this.#watched[index]!));
    if (same) return;
    this.#watched = targets;
    this.#watch.setTargets(targets);
  }

  /** Delivers all samples taken so far, and ends. */
  stop(): void {
    this.#watch.stop();
    this.#vitals.stop();
    this.#monitor.closeIfIdle();
  }
}

function isSame(a: MonitorTarget, b: MonitorTarget): boolean {
  return a.worker === b.worker && a.pid === b.pid && a.vitals === b.vitals;
}
