// Measures a worker's memory, tells of it, and does what the thresholds say: spill, pause, give up.
import { LongpoleError } from '../../base/errors.js';
import { megabytes } from '../../base/words.js';
import { VITALS_EXTERNAL, VITALS_HEAP } from '../../protocol/isolateMessages.js';
import { MemoryMonitor, type MemoryThresholds } from '../store/memoryMonitor.js';
import type { Store } from '../store/store.js';
import type { HostEvents, HostFacts } from './hostTypes.js';

/** Results, or memory of the process, that grew by this share of the limit are worth a look at the memory. */
const LOOK_SHARE = 0.05;
/** What a spill has freed shows in the memory of the process after this time, in milliseconds. */
const AFTER_SPILL_MS = 15;
/** A worker without results that could be spilled stays full for so long before that is said again, in seconds. */
const STILL_FULL_SECONDS = 2;

export interface WorkerMemoryOptions {
  readonly facts: HostFacts;
  readonly index: number;
  readonly clock: () => number;
  readonly store: Store;
  readonly thresholds: Partial<MemoryThresholds>;
  readonly processBytes: (() => number) | undefined;
  readonly giveUp: (why: string) => void;
}

/** What memory is read from and acted upon beside the store. */
export interface MemoryHost {
  /** Of the isolate: see isolateMessages. */
  readonly vitals: Float64Array;
  /** A task runs. */
  readonly isBusy: boolean;
  /** Has the vitals written in the middle of a task, soon. */
  refreshVitals(): void;
  collectGarbage(): void;
}

type MemoryEvents = Pick<HostEvents, 'memory' | 'paused' | 'noteFull'>;

export class WorkerMemory {
  readonly #options: WorkerMemoryOptions;
  readonly #events: MemoryEvents;
  readonly #host: MemoryHost;
  readonly #monitor: MemoryMonitor;
  /** Bytes of results since the last look. */
  #added = 0;
  /** Of the worker, at the last look. */
  #seen = 0;
  /** Of a process that several workers share, when the vitals were asked for last. */
  #shared = 0;
  /** Since when it is full, and how often spilling had failed by then. */
  #full: { readonly since: number; readonly failures: number } | undefined;

  constructor(options: WorkerMemoryOptions, events: MemoryEvents, host: MemoryHost) {
    this.#options = options;
    this.#events = events;
    this.#host = host;
    this.#monitor = new MemoryMonitor(options.thresholds);
  }

  /** A result has come. Results that come faster than the looks do must not fill the memory in between. */
  noteResult(nbytes: number): void {
    this.#added += nbytes;
    if (this.#isMuch(this.#added)) this.look();
  }

  /** Costs microseconds: has a look if memory has grown much since the last one. */
  glance(): void {
    this.#askIfGrown();
    if (this.#isMuch(this.#bytes() - this.#seen)) this.look();
  }

  look(): void {
    this.#added = 0;
    const { facts, index, clock, store, giveUp } = this.#options;
    const managed = store.managedBytes;
    const spilled = store.spilledBytes;
    const bytes = this.#bytes();
    this.#seen = bytes;
    const time = clock();
    this.#events.memory({
      worker: index,
      time,
      process: bytes,
      managed,
      unmanaged: Math.max(0, bytes - managed),
      spilled,
      tasks: store.memoryCount,
    });
    const limit = facts.memoryLimit;
    const reading = { process: bytes, managed, spilled, limit, time, busy: this.#host.isBusy };
    for (const action of this.#monitor.update(reading)) {
      switch (action.type) {
        case 'spill':
          void store.spill(action.untilBytes).then((done) => this.#spilled(done));
          break;
        case 'pause':
        case 'resume':
          this.#events.paused(action.type === 'pause');
          break;
        case 'full':
          this.#full = action.full ? { since: time, failures: store.spillFailures } : undefined;
          this.#events.noteFull(action.full ? this.#whyFull() : undefined, false);
          break;
        case 'collect':
          this.#host.collectGarbage();
          break;
        case 'terminate':
          giveUp(
            `Its memory, ${megabytes(bytes)}, is beyond the limit of ${megabytes(limit)}, and neither spilling nor collecting garbage helps.`,
          );
      }
    }
    this.#stillFull(time);
  }

  /** A task that computes says nothing. If the process grows, this one may be why. */
  #askIfGrown(): void {
    if (this.#options.processBytes !== undefined || this.#options.facts.memoryLimit === 0) return;
    const bytes = process.memoryUsage.rss();
    const hasGrown = this.#isMuch(bytes - this.#shared);
    if (hasGrown || bytes < this.#shared) this.#shared = bytes;
    if (hasGrown) this.#host.refreshVitals();
  }

  #isMuch(bytes: number): boolean {
    const { memoryLimit } = this.#options.facts;
    return memoryLimit > 0 && bytes > LOOK_SHARE * memoryLimit;
  }

  #bytes(): number {
    const { vitals } = this.#host;
    const { processBytes, store } = this.#options;
    // The isolate counts the shared arrays that it knows among what is outside its heap.
    return processBytes?.() ?? vitals[VITALS_HEAP]! + Math.max(vitals[VITALS_EXTERNAL]!, store.managedBytes);
  }

  /** Tasks wait for a full worker, so it is looked at as soon as its memory may have room. */
  #spilled(done: boolean): void {
    if (done && this.#full !== undefined) setTimeout(() => this.look(), AFTER_SPILL_MS).unref();
  }

  /** Says so once more when another attempt to spill has failed, or could not be made. */
  #stillFull(time: number): void {
    if (this.#full === undefined) return;
    const { spillFailure, spillFailures, isSpilling } = this.#options.store;
    const hasTried = spillFailure === undefined ? !isSpilling : spillFailures > this.#full.failures;
    if (!hasTried || time - this.#full.since < STILL_FULL_SECONDS) return;
    this.#full = { since: time, failures: spillFailures };
    this.#events.noteFull(this.#whyFull(), true);
  }

  #whyFull(): LongpoleError {
    const { facts, store } = this.#options;
    const limit = `The memory limit of a worker is ${megabytes(facts.memoryLimit)}.`;
    const { spillFailure: failure, isSpilling } = store;
    if (failure !== undefined)
      return new LongpoleError(failure.code, `${limit} ${failure.message}`, { cause: failure.cause });
    return new LongpoleError(
      'ERR_LONGPOLE_MEMORY_LIMIT',
      `${limit} The worker keeps ${megabytes(store.managedBytes)} of results in memory, and ` +
        (isSpilling
          ? 'they are being spilled.'
          : 'spilling is off. Raise memoryLimit, release results that are not needed, or let results be spilled (memory.target, memory.spill).'),
    );
  }
}
