// The scheduler's data about a worker.
import { resizedInt32 } from '../../base/resized.js';
import { NO_REGION, type Taker } from '../../graph/joinedTasks.js';
import type { WorkerAdded } from './events.js';
import { PriorityQueue, type TaskOrder } from './priorityQueue.js';

/** Tasks sent to a worker in one message, of which some are unfinished. Without values, unlike `Batch` of the protocol. */
export interface SentBatch {
  readonly number: number;
  ids: Int32Array;
  /** Number of tasks that the worker has not finished. */
  left: number;
}

export interface WorkerState extends Taker {
  readonly index: number;
  readonly name: string;
  readonly resources: ReadonlyMap<string, number>;
  /** Batches sent and not finished, oldest first. */
  batches: SentBatch[];
  /** Number of unfinished tasks in `batches`. */
  outstanding: number;
  /** By the scheduler's clock: when the worker last reported that a task ended, or got its first task after that. */
  since: number;
  /** Tasks that have left their slot and run beside the batches. They count in no load, and are not stolen. */
  readonly seceded: Set<number>;
  /** The tasks in `placed`, by function. */
  readonly placedWork: Workload;
  /** Tasks whose unfinished dependencies are all at this worker. They may follow in its next batch. */
  readonly followers: PriorityQueue;
  /** Tasks that could run and should run here, because their data is here or no other worker may run them. */
  readonly placed: PriorityQueue;
  /** Tasks whose results were sent to the worker as inputs, and are in its isolate. */
  replicas: Set<number>;
  /**
   * Tasks with results that came from another worker's store, so that this worker's store may have copies. The set
   * outlives the isolate.
   */
  storeCopies: Set<number>;
  /** Tasks with results of which the worker may have an unused copy. The worker is notified when they are released. */
  unusedCopies: Set<number>;
  /** True while a task that may kill its worker runs here alone. */
  quarantined: boolean;
  /** True if the worker's memory is full: no tasks are sent to it. */
  paused: boolean;
  /** True if results that cannot be spilled fill the memory. The worker is paused as well. */
  full: boolean;
  /** True if the worker ends soon. It is paused as well. */
  leaving: boolean;
  /**
   * State of steals: none, one in progress, or the last one came back empty. After an empty one, the scheduler waits
   * for a report.
   */
  stealState: 'idle' | 'requested' | 'empty';
}

/** Seconds that a task of an unmeasured function counts in a worker's occupancy. */
export const UNKNOWN_SECONDS = 0.5e-3;

/** Known durations in seconds, by function number + 1; 0 if not measured yet. */
interface Durations {
  readonly expected: Float64Array;
}

/** Counts tasks per function, because their expected duration may become known later. */
class Workload {
  readonly #durations: Durations;
  #counts = new Int32Array(8);
  /** Slots whose count may be above 0. */
  readonly #used = new Set<number>();

  constructor(durations: Durations) {
    this.#durations = durations;
  }

  /** Adds a task. `slot` is the function number + 1. */
  add(slot: number): void {
    if (slot >= this.#counts.length) this.#counts = resizedInt32(this.#counts, 2 * (slot + 1));
    if (this.#counts[slot]!++ === 0) this.#used.add(slot);
  }

  remove(slot: number): void {
    this.#counts[slot]!--;
  }

  /** Number of tasks. */
  get count(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  get seconds(): number {
    const { expected } = this.#durations;
    let seconds = 0;
    for (const slot of this.#used) {
      const count = this.#counts[slot]!;
      if (count === 0) this.#used.delete(slot);
      else seconds += count * (expected[slot]! || UNKNOWN_SECONDS);
    }
    return seconds;
  }
}

const NO_RESOURCES: ReadonlyMap<string, number> = new Map();

/** Returns a worker without tasks. `size` is the number of task ids. */
export function newWorker(
  { worker: index, name = String(index), resources = NO_RESOURCES }: WorkerAdded,
  size: number,
  durations: Durations,
  order: TaskOrder | null = null,
): WorkerState {
  return {
    index,
    name,
    resources,
    batches: [],
    outstanding: 0,
    since: 0,
    seceded: new Set(),
    placedWork: new Workload(durations),
    followers: new PriorityQueue(size, order),
    placed: new PriorityQueue(size, order),
    region: NO_REGION,
    replicas: new Set(),
    storeCopies: new Set(),
    unusedCopies: new Set(),
    quarantined: false,
    paused: false,
    leaving: false,
    full: false,
    stealState: 'idle',
  };
}
