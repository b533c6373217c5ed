// The memory of the processes in which the workers of a cluster run.
import { getOrMake } from '../../base/lookUps.js';
import type { ClusterMemory } from '../../diagnostics/memorySampler.js';
import type { ClusterObserver, MemorySample, WorkerInfo } from '../../protocol/clusterObserver.js';
import { processRss } from '../../resources/processRss.js';
import { residentBytes } from '../../resources/procFile.js';

/**
 * Seconds for which unmanaged memory counts as recent.
 *
 * @source Dask's setting `distributed.worker.memory.recent-to-old-time`
 */
const RECENT_SECONDS = 30;
/** Key of the history of the process that all threads share. */
const SHARED = -1;

/** The part of a worker that is needed here. */
interface MeasuredWorker {
  /** Measurement at the last heartbeat. */
  readonly memorySample: MemorySample | undefined;
  /** `pid`: id of the worker's process, negative if the process runs on another machine. */
  readonly host: { readonly pid: number };
}

/** The part of a ClusterEngine that is needed here. */
export interface MeasuredWorkers {
  /** Seconds since the epoch. */
  readonly clock: () => number;
  readonly options: { readonly threads: boolean };
  /** Workers by index. */
  readonly workers: ReadonlyMap<number, MeasuredWorker>;
}

/** Reads the memory of processes, and remembers their unmanaged memory at each heartbeat. */
export class ProcessMemory implements ClusterObserver {
  readonly #engine: MeasuredWorkers;
  readonly #resident: (pid: number) => number;
  readonly #histories = new Map<number, RecentMinimum>();

  /** @param resident returns the resident bytes of a process of this machine; NaN if unknown */
  constructor(engine: MeasuredWorkers, resident = residentNow) {
    this.#engine = engine;
    this.#resident = resident;
  }

  memory({ worker: index }: MemorySample): void {
    const { options, workers } = this.#engine;
    if (options.threads) this.read();
    else if (workers.has(index)) this.#readProcess(index, [workers.get(index)!]);
  }

  workerRemoved({ index }: WorkerInfo): void {
    this.#histories.delete(index);
  }

  /** Returns the sums over all processes now. Costs some 10 µs per process. */
  read(): ClusterMemory {
    const { options, workers } = this.#engine;
    const all = [...workers];
    const processes: [key: number, workers: MeasuredWorker[]][] = options.threads
      ? [[SHARED, all.map(([, worker]) => worker)]]
      : all.map(([index, worker]) => [index, [worker]]);
    const readings = processes.map(([key, own]) => this.#readProcess(key, own));
    const sum = (of: keyof ProcessReading): number => readings.reduce((total, one) => total + one[of], 0);
    const [process, managed, spilled, old] = [sum('process'), sum('managed'), sum('spilled'), sum('old')];
    const unmanaged = process - managed;
    return {
      process,
      managed,
      unmanaged,
      spilled,
      unmanaged_old: old,
      unmanaged_recent: unmanaged - old,
      optimistic: managed + old,
    };
  }

  /** Reads the memory of one process and adds it to the history with this key. */
  #readProcess(key: number, workers: readonly MeasuredWorker[]): ProcessReading {
    const sum = (of: 'process' | 'managed' | 'spilled'): number =>
      workers.reduce((total, { memorySample }) => total + (memorySample?.[of] ?? 0), 0);
    const resident = this.#resident(workers[0]?.host.pid ?? Number.NaN);
    const process = Number.isNaN(resident) ? sum('process') : resident;
    // The heartbeat with the size of the results may be older than the size of the process.
    const managed = Math.min(process, sum('managed'));
    const history = getOrMake(this.#histories, key, () => new RecentMinimum());
    return {
      process,
      managed,
      spilled: sum('spilled'),
      old: history.add(this.#engine.clock(), process - managed),
    };
  }
}

interface ProcessReading {
  readonly process: number;
  readonly managed: number;
  readonly spilled: number;
  /** Minimum of the unmanaged bytes in the last RECENT_SECONDS. */
  readonly old: number;
}

/** The smallest of the values of the last RECENT_SECONDS. */
class RecentMinimum {
  /** Values without smaller ones after them, so both times and bytes increase. */
  readonly #candidates: { readonly time: number; readonly bytes: number }[] = [];

  /** Adds a value. Returns the minimum. */
  add(time: number, bytes: number): number {
    const candidates = this.#candidates;
    while ((candidates.at(-1)?.bytes ?? Number.NEGATIVE_INFINITY) >= bytes) candidates.pop();
    candidates.push({ time, bytes });
    while (candidates[0]!.time < time - RECENT_SECONDS) candidates.shift();
    return candidates[0]!.bytes;
  }
}

/** Returns the resident bytes of a process of this machine; NaN if unknown. */
function residentNow(pid: number): number {
  if (pid === process.pid) return processRss();
  return pid > 0 ? residentBytes(pid) : Number.NaN;
}
