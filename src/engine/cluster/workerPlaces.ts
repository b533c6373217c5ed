// The workers of a cluster. Each place has one live worker: a worker that dies is replaced. Scaling the cluster adds
// and removes places.
import { LongpoleError } from '../../base/errors.js';
import type { ProfileSettings, WorkerInfo } from '../../protocol/clusterObserver.js';
import type { GatherInput } from '../../protocol/packedResult.js';
import type { MemoryThresholds } from '../../protocol/workerMessages.js';
import type { HostEvents, WorkerHost } from '../host/hostTypes.js';
import type { WorkerState } from '../scheduler/workerState.js';
import { isStartError, startAdvice } from '../taskFailure.js';
import type { ClusterEngine } from './clusterEngine.js';
import { ClusterWorker } from './clusterWorker.js';
import type { EngineWorker } from './engineWorker.js';
import type { TaskPlace } from './lineage.js';

export interface WorkerSettings {
  /** Bytes per worker; 0: no limit. */
  readonly memoryLimit: number;
  readonly thresholds: Partial<MemoryThresholds>;
  /** Undefined: workers are not profiled. */
  readonly profile: ProfileSettings | undefined;
  /** Seconds without a message after which a worker process is replaced; false: never. */
  readonly ttl: number | false;
  /** Resources that each worker offers: name → amount. */
  readonly resources: ReadonlyMap<string, number>;
}

/** Address and resources of a worker that another cluster places, e.g. on a Dask worker. */
export interface WorkerSite extends Pick<WorkerInfo, 'address' | 'host' | 'memoryLimit'> {
  readonly resources: ReadonlyMap<string, number>;
}

/** Creates the host of a worker, which is a thread of this process or a separate process. */
export type HostFactory = (worker: ClusterWorker, events: HostEvents) => WorkerHost;

/** Consecutive failed starts after which a place is given up. */
const MAX_FAILED_STARTS = 10;
/** Time limit for the remaining tasks of a leaving worker, in seconds. */
const RETIRE_SECONDS = 30;
/** The same for a site that ends. Dask kills a worker that has not closed after four seconds. */
const SITE_SECONDS = 2;

interface Place {
  readonly name: string;
  worker: ClusterWorker;
  /** The worker that `worker` replaces. It runs tasks until `worker` is up. */
  before?: ClusterWorker | undefined;
  failedStarts: number;
  /** Undefined for a worker on this machine with the settings of the cluster. */
  readonly site?: WorkerSite | undefined;
}

export class WorkerPlaces {
  readonly #engine: ClusterEngine;
  readonly #settings: WorkerSettings;
  readonly #makeHost: HostFactory;
  readonly #places: Place[] = [];
  #nextIndex = 0;
  #nextPlace = 0;
  #closed = false;

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

  /**
   * Starts or retires workers until there are `size`. Retired workers finish their tasks and hand over their results.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_WORKER_START if a place is given up, after repeated failed starts
   */
  async scale(size: number): Promise<void> {
    while (this.#places.length < size) {
      const name = `worker-${this.#nextPlace++}`;
      this.#places.push({ name, worker: this.#start(name), failedStarts: 0 });
    }
    const leaving = this.#places.splice(size);
    await Promise.all([
      ...this.#places.map((place) => this.#up(place)),
      ...leaving.map(({ worker }) => this.#retire(worker)),
      ...leaving.map(({ before }) => before && this.#retire(before)),
    ]);
  }

  /** Scales like `scale`, but retires the workers with the fewest tasks instead of the newest. */
  scaleByLoad(size: number): Promise<void> {
    const { workers } = this.#engine.scheduler.state;
    const tasksOf = ({ worker }: Place): number => {
      const known = workers.get(worker.info.index);
      return unfinished(known) + (known?.placed.size ?? 0);
    };
    this.#places.sort((a, b) => tasksOf(b) - tasksOf(a));
    return this.scale(size);
  }

  /** Adds a worker that runs elsewhere. A worker that dies there is replaced until the site is removed. */
  async add(name: string, site: WorkerSite): Promise<void> {
    const place: Place = { name, worker: this.#start(name, site), failedStarts: 0, site };
    this.#places.push(place);
    await this.#up(place);
  }

  /** Removes the workers of a site without replacing them. */
  remove(site: WorkerSite, why: string): void {
    for (const place of this.#at(site)) {
      this.#places.splice(this.#places.indexOf(place), 1);
      place.worker.lost(new Error(why));
    }
  }

  /** Retires the workers of a site, which ends soon. Results that cannot be moved in time are lost. */
  retire(site: WorkerSite, why: string): void {
    for (const place of this.#at(site)) {
      this.#places.splice(this.#places.indexOf(place), 1);
      for (const worker of [place.worker, place.before])
        if (worker !== undefined) void this.#retire(worker, why, SITE_SECONDS);
    }
  }

  #at({ address }: WorkerSite): Place[] {
    return this.#places.filter(({ site }) => site?.address === address);
  }

  /**
   * Replaces a worker by a new one, which is up before the old one leaves. If no new worker starts, the old one stays.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_WORKER_START if no new worker starts and the old one has died
   * meanwhile
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
    // A place that no longer exists was given up together with both workers.
    if (place.worker !== worker && this.#places.includes(place)) await this.#retire(worker, reason);
  }

  /** Resolves when any worker of this place is up. */
  async #up(place: Place): Promise<void> {
    for (;;) {
      const { worker } = place;
      try {
        await worker.started;
        return;
      } catch (error) {
        // Another worker is in this place by now, unless the place was given up.
        if (place.worker === worker) throw error;
      }
    }
  }

  replace(worker: ClusterWorker, cause: Error): void {
    this.#removed(worker, cause.message);
    void worker.host.terminate();
    const place = this.#places.find((one) => one.worker === worker);
    if (place === undefined || this.#closed) return;
    const hasStarted = worker.facts !== undefined && !isStartError(cause);
    place.failedStarts = hasStarted ? 0 : place.failedStarts + 1;
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
      this.#removed(worker, 'The cluster was closed.');
    }
    await Promise.all(workers.map((worker) => worker.host.terminate()));
  }

  #removed({ info }: EngineWorker, why: string): void {
    this.#engine.workers.delete(info.index);
    this.#engine.notify((observer) => observer.workerRemoved?.(info, this.#engine.clock(), why));
  }

  #start(name: string, site?: WorkerSite): ClusterWorker {
    const index = this.#nextIndex++;
    const scheme = this.#engine.options.threads ? 'thread' : 'process';
    const worker: ClusterWorker = new ClusterWorker(
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
      (cause) => this.replace(worker, cause),
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

  /**
   * Adds a worker to the scheduler once it is up. Before that, tasks would wait there while other workers could run
   * them.
   */
  #admit(worker: ClusterWorker, site: WorkerSite | undefined): void {
    const { index, name } = worker.info;
    const { resources } = site ?? this.#settings;
    if (!this.#isThere(worker) || worker.isLeaving) return;
    this.#engine.handleEvent({ type: 'worker-added', worker: index, name, resources });
  }

  /** Whether the worker has neither died nor ended. */
  #isThere(worker: ClusterWorker): boolean {
    return this.#engine.workers.get(worker.info.index) === worker;
  }

  /** Stops sending tasks to a worker, waits until it is idle, moves its results to other workers, and ends it. */
  async #retire(
    worker: ClusterWorker,
    why = 'The cluster was scaled down.',
    seconds = RETIRE_SECONDS,
  ): Promise<void> {
    const { index } = worker.info;
    worker.beginToLeave();
    const until = this.#engine.clock() + seconds;
    const { workers } = this.#engine.scheduler.state;
    // The scheduler replaces its record of the worker when the isolate is replaced, so look it up in each poll.
    while (unfinished(workers.get(index)) > 0 && this.#engine.clock() < until) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (!this.#isThere(worker)) return;
    }
    await this.#engine.installed.end(worker);
    // Results are moved last, because the worker may receive more until then.
    await moveResults(this.#engine, worker);
    // Another call has ended the worker meanwhile and notified the observers.
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
      `Worker ${place.name} failed to start ${MAX_FAILED_STARTS} times and is not tried again. ${startAdvice(cause)}`,
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
  }
}

/** Number of tasks that the worker has and that have not ended. */
function unfinished(worker: WorkerState | undefined): number {
  return worker === undefined ? 0 : worker.outstanding + worker.seceded.size;
}

/** A stored result and its location. */
interface Held extends TaskPlace {
  readonly input: GatherInput;
}

/**
 * Moves the stored results of a leaving worker to others, because scattered data could not be computed again. Results
 * for which no worker has room are lost.
 */
async function moveResults(engine: ClusterEngine, leaving: EngineWorker): Promise<void> {
  const unable = new Set<EngineWorker>();
  // Repeats, because the worker may have received more results and an heir may have died.
  for (;;) {
    const held = heldBy(engine, leaving);
    const heir = held.length === 0 ? undefined : heirOf(engine, unable);
    if (heir === undefined) return;
    if (heir.facts === undefined) await heir.started.catch(() => undefined);
    else if (!(await handOver(engine, held, heir))) unable.add(heir);
  }
}

function heldBy(engine: ClusterEngine, { info }: EngineWorker): Held[] {
  const { state } = engine.scheduler;
  const held: Held[] = [];
  for (const computation of engine.computations) {
    const { base, size } = computation.segment;
    for (let local = 0; local < size; local++)
      if (state.stored[base + local] !== 0 && state.location[base + local] === info.index)
        held.push({ computation, local, input: engine.gatherInput(computation, local) });
  }
  return held;
}

/** Returns a worker that is up, or else one that is starting. */
function heirOf(engine: ClusterEngine, unable: ReadonlySet<EngineWorker>): EngineWorker | undefined {
  const heirs = [...engine.workers.values()].filter(
    (worker) => !worker.isLeaving && !worker.isPaused && !unable.has(worker),
  );
  return heirs.find(({ facts }) => facts !== undefined) ?? heirs[0];
}

/** Returns whether the heir has taken all results. */
async function handOver(engine: ClusterEngine, held: readonly Held[], heir: EngineWorker): Promise<boolean> {
  const { index } = heir.info;
  const inputs = held.map(({ input }) => input);
  const missing = new Set(await heir.host.take(inputs, 'gather-dep'));
  // The heir has died or is leaving, too.
  if (engine.workers.get(index) !== heir || heir.isLeaving) return false;
  const taken = held.filter(({ input }) => !missing.has(input.result));
  const idle = taken.filter((one) => !relocate(engine, one, index)).map(({ input }) => input.result);
  // These results were released or computed elsewhere meanwhile, and no later message would drop the copies.
  const drop = idle.filter((result) => !engine.stored.holders(result).has(index));
  if (drop.length > 0) heir.host.drop(drop);
  return missing.size === 0;
}

/** Makes the heir the location of a result, unless the result has been released or moved. */
function relocate(engine: ClusterEngine, { computation, local, input }: Held, to: number): boolean {
  if (engine.computation(computation.info.number) !== computation) return false;
  const { state } = engine.scheduler;
  const id = computation.segment.base + local;
  if (state.stored[id] === 0 || state.location[id] !== input.from) return false;
  state.location[id] = to;
  engine.stored.add(input.result, to);
  return true;
}
