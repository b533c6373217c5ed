// The workers of a Dask cluster as the bridge tells of them: who they are, what their clocks say, how they stand.
import type { MemorySample, WorkerInfo } from '../protocol/clusterObserver.js';
import type { DaskWorkerRow, StatusRow } from '../protocol/daskRows.js';
import { WorkerClock } from './workerClock.js';

/** Threads that are told apart: one that ends is replaced by one with another name. */
const MAX_THREADS = 1024;

export interface RunningTask {
  readonly id: number;
  readonly key: string;
  /** On the scheduler's clock. */
  readonly started: number;
}

export class MirrorWorker {
  readonly info: WorkerInfo;
  readonly clock: WorkerClock;
  status: StatusRow['workers'][number] | undefined;
  memory: MemorySample | undefined;
  running: readonly RunningTask[] = [];
  /** Seconds by which its event loop was late at the latest heartbeat; NaN: there was none. */
  eventLoopDelay = Number.NaN;
  readonly #threads = new Map<number, number>();

  constructor(info: WorkerInfo, clock: WorkerClock) {
    this.info = info;
    this.clock = clock;
  }

  /** 0, 1, 2, … in the order in which threads ran their first task. */
  threadOf(name: number): number {
    let thread = this.#threads.get(name);
    if (thread === undefined) {
      thread = Math.min(this.#threads.size, MAX_THREADS - 1);
      this.#threads.set(name, thread);
    }
    return thread;
  }
}

export class MirrorWorkers {
  readonly #present = new Map<number, MirrorWorker>();
  /** The latest at each address, those included that have gone: their last transfers are told later. */
  readonly #byAddress = new Map<string, MirrorWorker>();
  #schedulerHost = '';
  #schedulerBoot = '';

  /** What is needed to know whose clock is the scheduler's. */
  scheduler(address: string, bootId: string): void {
    this.#schedulerHost = hostOf(address);
    this.#schedulerBoot = bootId;
  }

  add({ index, address, name, host, pid, threads, memoryLimit, time }: DaskWorkerRow): MirrorWorker {
    const info = { index, name, address, host, pid, threads, memoryLimit, startTime: time };
    // Until the worker itself says more: machines have one clock.
    const isShared = host !== '' && host === this.#schedulerHost;
    const worker = new MirrorWorker(info, new WorkerClock(isShared));
    this.#present.set(index, worker);
    this.#byAddress.set(address, worker);
    return worker;
  }

  remove(index: number): MirrorWorker | undefined {
    const worker = this.#present.get(index);
    this.#present.delete(index);
    return worker;
  }

  /** Those of the cluster now. */
  get all(): Iterable<MirrorWorker> {
    return this.#present.values();
  }

  get(index: number): MirrorWorker | undefined {
    return this.#present.get(index);
  }

  at(address: string): MirrorWorker | undefined {
    return this.#byAddress.get(address);
  }

  /** What a worker said of its clock. */
  clockOf(worker: MirrorWorker, bootId: string, delay: number): void {
    worker.clock.estimate = delay;
    if (bootId !== '' && this.#schedulerBoot !== '') worker.clock.isShared = bootId === this.#schedulerBoot;
  }
}

/** `tcp://127.0.0.1:8786` → `127.0.0.1`, `tcp://[::1]:8786` → `::1`. */
export function hostOf(address: string): string {
  const place = address.slice(address.indexOf('://') + 3);
  const [, bracketed] = /^\[([^\]]*)\]/.exec(place) ?? [];
  if (bracketed !== undefined) return bracketed;
  const colon = place.lastIndexOf(':');
  return colon < 0 ? place : place.slice(0, colon);
}
