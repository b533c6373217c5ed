// The workers of a cluster: as many places as it was asked for, each with a worker that is alive. One that dies is replaced;
// places come and go when the cluster is scaled.
import { LongpoleError } from '../../base/errors.js';
import type { ProfileSettings } from '../../protocol/profileCycle.js';
import type { HostEvents, WorkerHost } from '../host/hostTypes.js';
import type { MemoryThresholds } from '../store/memoryMonitor.js';
import type { ClusterEngine } from './clusterEngine.js';
import { ClusterWorker, type WorkerKeeper } from './clusterWorker.js';
import { moveResults } from './moveResults.js';

export interface WorkerSettings {
  /** Bytes per worker; 0: no limit. */
  readonly memoryLimit: number;
  readonly thresholds: Partial<MemoryThresholds>;
  /** Undefined: workers are not profiled. */
  readonly profile: ProfileSettings | undefined;
  /** Seconds after which a worker process of which nothing is heard is replaced; false: never. */
  readonly ttl: number | false;
  /** What each worker offers, by name. */
  readonly resources: ReadonlyMap<string, number>;
}

/** Where a worker runs that is not this cluster's to place, and what it has. */
export interface WorkerSite {
  readonly address: string;
  readonly host: string;
  readonly memoryLimit: number;
  readonly resources: ReadonlyMap<string, number>;
}

/** Makes the host of a worker: a thread of this process or a process of its own. */
export type HostFactory = (worker: ClusterWorker, events: HostEvents) => WorkerHost;

/** Workers that die before they are up, one after the other in one place: more are no use. */
const MAX_FAILED_STARTS = 10;
/** How long a worker that leaves may finish what it has, in seconds. */
const RETIRE_SECONDS = 30;

interface Place {
  readonly name: string;
  worker: ClusterWorker;
  /** The one that `worker` is to replace, and that works until it is up. */
  before?: ClusterWorker | undefined;
  failedStarts: number;
  /** Undefined: on this machine, with what the settings say. */
  readonly site?: WorkerSite | undefined;
}

export class WorkerPlaces implements WorkerKeeper {
  readonly #engine: ClusterEngine;
  readonly #settings: WorkerSettings;
  readonly #makeHost: HostFactory;
  readonly #places: Place[] = [];
  #nextIndex = 0;
  #nextPlace = 0;
  #closed = false;
  /** Told when a place is given up for good. */
  onGivenUp: (error: LongpoleError) => void = () => undefined;

  constructor(engine: ClusterEngine, settings: WorkerSettings, makeHost: HostFactory) {
    this.#engine = engine;
    this.#settings = settings;
    this.#makeHost = makeHost;
  }

  get size(): number {
    return this.#places.length;
  }

  get workers(): readonly ClusterWorker[] {
    return this.#places.map(({ worker }) => worker);
  }

  /** Brings the number of workers to `size`. Those that leave finish what they have and hand their results on. */
  async scale(size: number): Promise<void> {
    while (this.#places.length < size) {
      const name = `worker-${this.#nextPlace++}`;
      this.#places.push({ name, worker: this.#start(name), failedStarts: 0 });
    }
    const leaving = this.#places.splice(size);
    await Promise.all([
      ...this.#places.map(({ worker }) => worker.started),
      ...leaving.map(({ worker }) => this.#retire(worker)),
      ...leaving.map(({ before }) => before && this.#retire(before)),
    ]);
  }

  /** Takes a worker in that runs elsewhere. When it dies, another is started there, until the place is removed. */
  async add(name: string, site: WorkerSite): Promise<void> {
    const place: Place = { name, worker: this.#start(name, site), failedStarts: 0, site };
    this.#places.push(place);
    await this.#up(place);
  }

  /** The workers of a site are gone, and will not be replaced. */
  remove(site: WorkerSite, why: string): void {
    for (const place of this.#places.filter((one) => one.site === site)) {
      this.#places.splice(this.#places.indexOf(place), 1);
      place.worker.lost(new Error(why));
    }
  }

  /**
   * Replaces a worker by a new one, which is up before the old one leaves. If none can be started, the old one stays.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_WORKER_START if the old one has died meanwhile
   */
  async restart(worker: ClusterWorker, reason: string): Promise<void> {
    const place = this.#places.find((one) => one.worker === worker);
    if (place === undefined || worker.facts === undefined) return;
    place.before = worker;
    place.worker = this.#start(place.name, place.site);
    try {
      await this.#up(place);
    } finally {
      place.before = undefined;
    }
    // A place that is gone was given up with both of them.
    if (place.worker !== worker && this.#places.includes(place)) await this.#retire(worker, reason);
  }

  /** Resolves when a worker of this place is up, whichever it is. */
  async #up(place: Place): Promise<void> {
    for (;;) {
      const { worker } = place;
      try {
        await worker.started;
        return;
      } catch (error) {
        // Another has its place by now, unless nobody tries any more.
        if (place.worker === worker) throw error;
      }
    }
  }

  replace(worker: ClusterWorker, cause: Error): void {
    this.#engine.workers.delete(worker.info.index);
    this.#engine.notify((observer) =>
      observer.workerRemoved?.(worker.info, this.#engine.clock(), cause.message),
    );
    void worker.host.terminate();
    const place = this.#places.find((one) => one.worker === worker);
    if (place === undefined || this.#closed) return;
    place.failedStarts = worker.facts === undefined ? place.failedStarts + 1 : 0;
    if (place.failedStarts >= MAX_FAILED_STARTS) this.#giveUp(place, cause);
    else place.worker = this.#start(place.name, place.site);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#places.length = 0;
    const workers = [...this.#engine.workers.values()];
    await Promise.all(workers.map((worker) => this.#engine.installed.end(worker)));
    for (const worker of workers) {
      worker.leave();
      this.#engine.workers.delete(worker.info.index);
      this.#engine.notify((observer) =>
        observer.workerRemoved?.(worker.info, this.#engine.clock(), 'The cluster was closed.'),
      );
    }
    await Promise.all(workers.map((worker) => worker.host.terminate()));
  }

  #start(name: string, site?: WorkerSite): ClusterWorker {
    const index = this.#nextIndex++;
    const scheme = this.#engine.options.threads ? 'thread' : 'process';
    const worker = new ClusterWorker(
      this.#engine,
      {
        index,
        name,
        address: site?.address ?? `${scheme}://${process.pid}/${name}`,
        host: site?.host ?? this.#engine.host,
        pid: process.pid,
        threads: 1,
        memoryLimit: site?.memoryLimit ?? this.#settings.memoryLimit,
        startTime: this.#engine.clock(),
      },
      this,
    );
    worker.host = this.#makeHost(worker, worker);
    worker.info = { ...worker.info, pid: worker.host.pid };
    this.#engine.workers.set(index, worker);
    this.#engine.installed.begin(worker);
    this.#engine.notify((observer) => observer.workerAdded?.(worker.info));
    if (worker.facts !== undefined) this.#admit(worker, site);
    else void worker.started.then(() => this.#admit(worker, site)).catch(() => undefined);
    return worker;
  }

  /** It is up: tasks may be sent there. Before, they would wait there while others could run them. */
  #admit(worker: ClusterWorker, site: WorkerSite | undefined): void {
    const { index, name } = worker.info;
    const { resources } = site ?? this.#settings;
    if (!this.#isThere(worker) || worker.isLeaving) return;
    this.#engine.handleEvent({ type: 'worker-added', worker: index, name, resources });
  }

  /** It has neither died nor ended. */
  #isThere(worker: ClusterWorker): boolean {
    return this.#engine.workers.get(worker.info.index) === worker;
  }

  /** Nothing more is sent to it; when it is idle, others take over what it holds, and it ends. */
  async #retire(worker: ClusterWorker, why = 'The cluster was made smaller.'): Promise<void> {
    const { index } = worker.info;
    worker.beginToLeave();
    const until = this.#engine.clock() + RETIRE_SECONDS;
    const { workers } = this.#engine.scheduler.state;
    // What the scheduler knows of it begins anew when its isolate is replaced.
    while ((workers.get(index)?.outstanding ?? 0) > 0 && this.#engine.clock() < until) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (!this.#isThere(worker)) return;
    }
    await this.#engine.installed.end(worker);
    // At last: until then more may come to it.
    await moveResults(this.#engine, worker);
    // Whoever ended it meanwhile has told of it.
    if (!this.#isThere(worker)) return;
    worker.leave();
    this.#engine.workers.delete(index);
    this.#engine.stored.forgetWorker(index);
    this.#engine.handleEvent({ type: 'worker-removed', worker: index, blame: 'none' });
    this.#engine.notify((observer) => observer.workerRemoved?.(worker.info, this.#engine.clock(), why));
    await worker.host.terminate();
  }

  #giveUp(place: Place, cause: Error): void {
    const error = new LongpoleError(
      'ERR_LONGPOLE_WORKER_START',
      `Worker ${place.name} could not be started ${MAX_FAILED_STARTS} times: ${cause.message}`,
      { cause },
    );
    this.#engine.event('worker-given-up', error.message);
    const { before } = place;
    if (before !== undefined && this.#isThere(before)) {
      place.worker = before;
      place.failedStarts = 0;
      return;
    }
    this.#places.splice(this.#places.indexOf(place), 1);
    if (this.#places.length === 0) this.#engine.failEverything(error);
    this.onGivenUp(error);
  }
}
