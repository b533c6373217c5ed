// Measures a worker's memory, reports it, and acts on the thresholds: spills, pauses or ends the worker.
import { LongpoleError } from '../../base/errors.js';
import { megabytes } from '../../base/words.js';
import { VITALS } from '../../protocol/isolateMessages.js';
import { processRss } from '../../resources/processRss.js';
import { memoryMonitor } from '../store/memoryMonitor.js';
import type { HostEvents, ThreadHostOptions, WorkerHost, WorkerSnapshot } from './hostTypes.js';

/** Growth of results or of the process, as a share of the limit, that triggers a measurement. */
const GROWTH_SHARE = 0.05;
/**
 * Growth of a process with several workers that triggers an update, in bytes. Only the isolates know their parts of it, and
 * a limit can be so large that a twentieth of it would hide what a task holds.
 */
const SHARED_GROWTH = 32e6;
/** Time until the memory freed by a spill shows in the size of the process, in milliseconds. */
const AFTER_SPILL_MS = 15;
/** Time between two reports that a worker is still full, in seconds. */
const STILL_FULL_SECONDS = 2;

export type WorkerMemoryOptions = Pick<
  ThreadHostOptions,
  'facts' | 'index' | 'clock' | 'store' | 'thresholds' | 'processBytes' | 'giveUp'
>;

/** Access to the isolate's memory. */
export interface MemoryHost extends Pick<WorkerHost, 'running'> {
  /** Vitals of the isolate, see isolateMessages. */
  readonly vitals: Float64Array;
  /** Makes the isolate update its vitals soon, also while a task runs. */
  refreshVitals(): void;
  collectGarbage(): void;
}

type MemoryEvents = Pick<HostEvents, 'memory' | 'paused' | 'noteFull'>;

export class WorkerMemory {
  readonly #options: WorkerMemoryOptions;
  readonly #events: MemoryEvents;
  readonly #host: MemoryHost;
  readonly #decide: ReturnType<typeof memoryMonitor>;
  /** Bytes of results since the last measurement. */
  #added = 0;
  /** Bytes of the worker at the last measurement. */
  #seen = 0;
  /** Bytes of a shared process at the last update of the vitals. */
  #shared = 0;
  /** Time since which the memory is full, and the number of failed spills by then. */
  #full: { readonly since: number; readonly failures: number } | undefined;

  constructor(options: WorkerMemoryOptions, events: MemoryEvents, host: MemoryHost) {
    this.#options = options;
    this.#events = events;
    this.#host = host;
    this.#decide = memoryMonitor(options.thresholds);
  }

  /**
   * Counts a new result. Measures at once if results arrive so fast that they could fill the memory before the next
   * poll.
   */
  noteResult(nbytes: number): void {
    this.#added += nbytes;
    if (this.#isMuch(this.#added)) this.measure();
  }

  /** Measures the memory if it has grown much since the last time. Costs microseconds otherwise. */
  measureIfGrown(): void {
    this.#refreshIfGrown();
    const growth = this.#bytes() - this.#seen;
    if (this.#isMuch(growth) || (this.#isShared && growth > SHARED_GROWTH)) this.measure();
  }

  measure(): void {
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
    const busy = this.#host.running !== undefined;
    const reading = { process: bytes, managed, spilled, limit, time, busy };
    for (const action of this.#decide(reading)) {
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
            `Its memory of ${megabytes(bytes)} ${bytes > limit ? 'exceeds' : 'is close to'} the limit of ${megabytes(limit)}, and neither spilling nor garbage collection has freed enough.`,
          );
      }
    }
    this.#stillFull(time);
  }

  snapshot(): WorkerSnapshot['memory'] {
    const { managedBytes, spilledBytes } = this.#options.store;
    return { managed: managedBytes, spilled: spilledBytes, process: this.#bytes() };
  }

  /**
   * Makes the isolate update its vitals if the shared process has grown, because a running task sends no update by
   * itself.
   */
  #refreshIfGrown(): void {
    if (!this.#isShared) return;
    const bytes = processRss();
    const growth = bytes - this.#shared;
    const hasGrown = this.#isMuch(growth) || growth > SHARED_GROWTH;
    if (hasGrown || bytes < this.#shared) this.#shared = bytes;
    if (hasGrown) this.#host.refreshVitals();
  }

  /** Whether the worker's process has other workers, or is the program's. */
  get #isShared(): boolean {
    return this.#options.processBytes === undefined;
  }

  #isMuch(bytes: number): boolean {
    const { memoryLimit } = this.#options.facts;
    return memoryLimit > 0 && bytes > GROWTH_SHARE * memoryLimit;
  }

  #bytes(): number {
    const { vitals } = this.#host;
    const { processBytes, store } = this.#options;
    // The isolate's external memory includes the shared arrays to which it refers.
    return processBytes?.() ?? vitals[VITALS.heap]! + Math.max(vitals[VITALS.external]!, store.managedBytes);
  }

  /** Measures a full worker soon after a spill, because tasks wait for it. */
  #spilled(done: boolean): void {
    if (done && this.#full !== undefined) setTimeout(() => this.measure(), AFTER_SPILL_MS).unref();
  }

  /** Reports again that the worker is full, after another attempt to spill has failed or was not possible. */
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
