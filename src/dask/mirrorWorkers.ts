// The workers of a Dask cluster, from rows of the bridge: their facts, clocks and states.
import { getOrMake } from '../base/lookUps.js';
import type { MemorySample, WorkerInfo } from '../protocol/clusterObserver.js';
import type { DaskRow } from '../protocol/daskRows.js';
import type { RunningRow } from '../protocol/viewMessages.js';
import { hostOf } from './schedulerAddress.js';
import { WorkerClock } from './workerClock.js';

/** Maximum number of distinct threads of a worker, whose pool replaces threads by new ones with other names. */
const MAX_THREADS = 1024;

/** `started` is on the scheduler's clock. */
export type RunningTask = Pick<RunningRow, 'id' | 'key' | 'started'>;

export class MirrorWorker {
  readonly info: WorkerInfo;
  readonly clock: WorkerClock;
  status: DaskRow<'status'>['workers'][number] | undefined;
  memory: MemorySample | undefined;
  running: readonly RunningTask[] = [];
  /** Delay of the event loop in seconds at the latest heartbeat; NaN before the first one. */
  eventLoopDelay = Number.NaN;
  readonly #threads = new Map<number, number>();

  constructor(info: WorkerInfo, clock: WorkerClock) {
    this.info = info;
    this.clock = clock;
  }

  /**
   * Returns the number of the thread of a task: its slot, or if that is unknown 0, 1, 2, … by its name in the order of the first
   * tasks.
   */
  threadOf(name: number, slot = Number.NaN): number {
    if (Number.isInteger(slot) && slot >= 0) return Math.min(slot, MAX_THREADS - 1);
    return getOrMake(this.#threads, name, () => Math.min(this.#threads.size, MAX_THREADS - 1));
  }
}

export class MirrorWorkers {
  readonly #present = new Map<number, MirrorWorker>();
  /** Latest worker at each address, also after it has left, because its last transfers are reported later. */
  readonly #byAddress = new Map<string, MirrorWorker>();
  #schedulerHost = '';
  #schedulerBoot = '';

  /** Sets the scheduler's address and boot id, to detect workers that share its clock. */
  scheduler(address: string, bootId: string): void {
    this.#schedulerHost = hostOf(address);
    this.#schedulerBoot = bootId;
  }

  add({ index, address, name, host, pid, threads, memoryLimit, time }: DaskRow<'worker'>): MirrorWorker {
    const info = { index, name, address, host, pid, threads, memoryLimit, startTime: time };
    // Processes of one machine share its clock. The boot id of the worker, which arrives later, is more reliable.
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

  get all(): Iterable<MirrorWorker> {
    return this.#present.values();
  }

  get(index: number): MirrorWorker | undefined {
    return this.#present.get(index);
  }

  at(address: string): MirrorWorker | undefined {
    return this.#byAddress.get(address);
  }

  clockOf(worker: MirrorWorker, bootId: string, delay: number): void {
    worker.clock.estimate = delay;
    if (bootId !== '' && this.#schedulerBoot !== '') worker.clock.isShared = bootId === this.#schedulerBoot;
  }
}
