// Measures a worker's memory, tells of it, and does what the thresholds say: spill, pause, give up.
import { VITALS_EXTERNAL, VITALS_HEAP } from '../../protocol/isolateMessages.js';
import { MemoryMonitor, type MemoryThresholds } from '../store/memoryMonitor.js';
import type { Store } from '../store/store.js';
import type { HostEvents, HostFacts } from './hostTypes.js';

/** Results that are this share of the limit are worth a look at the memory. */
const LOOK_SHARE = 0.05;

export interface WorkerMemoryOptions {
  readonly facts: HostFacts;
  readonly index: number;
  readonly clock: () => number;
  readonly store: Store;
  readonly thresholds: Partial<MemoryThresholds>;
  readonly processBytes: (() => number) | undefined;
  readonly giveUp: (why: string) => void;
}

export class WorkerMemory {
  readonly #options: WorkerMemoryOptions;
  readonly #events: HostEvents;
  readonly #collect: () => void;
  readonly #monitor: MemoryMonitor;
  /** Bytes of results since the last look. */
  #added = 0;

  constructor(options: WorkerMemoryOptions, events: HostEvents, collect: () => void) {
    this.#options = options;
    this.#events = events;
    this.#collect = collect;
    this.#monitor = new MemoryMonitor(options.thresholds);
  }

  /** A result has come. Results that come faster than the looks do must not fill the memory in between. */
  noteResult(nbytes: number, vitals: Float64Array): void {
    this.#added += nbytes;
    const { memoryLimit } = this.#options.facts;
    if (memoryLimit > 0 && this.#added > LOOK_SHARE * memoryLimit) this.look(vitals);
  }

  /** `vitals` of the isolate: see isolateMessages. */
  look(vitals: Float64Array): void {
    this.#added = 0;
    const { facts, index, clock, store, processBytes } = this.#options;
    const managed = store.managedBytes;
    const spilled = store.spilledBytes;
    // The isolate counts the shared arrays that it knows among what is outside its heap.
    const process = processBytes?.() ?? vitals[VITALS_HEAP]! + Math.max(vitals[VITALS_EXTERNAL]!, managed);
    const time = clock();
    this.#events.memory({
      worker: index,
      time,
      process,
      managed,
      unmanaged: Math.max(0, process - managed),
      spilled,
      tasks: store.memoryCount,
    });
    const reading = { process, managed, spilled, limit: facts.memoryLimit, time };
    for (const action of this.#monitor.update(reading)) {
      switch (action.type) {
        case 'spill':
          void store.spill(action.untilBytes);
          break;
        case 'pause':
        case 'resume':
          this.#events.paused(action.type === 'pause');
          break;
        case 'collect':
          this.#collect();
          break;
        case 'terminate':
          this.#options.giveUp(
            `Its memory, ${megabytes(process)} MB, is beyond the limit of ${megabytes(facts.memoryLimit)} MB, and neither spilling nor collecting garbage helps.`,
          );
      }
    }
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
