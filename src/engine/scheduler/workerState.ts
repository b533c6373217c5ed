// What the scheduler knows of a worker.
import type { WorkerAdded } from './events.js';
import { PriorityQueue } from './priorityQueue.js';

/** Tasks sent to a worker in one message. */
export interface Batch {
  readonly number: number;
  ids: Int32Array;
  /** How many of them the worker still has. */
  left: number;
}

export interface WorkerState {
  readonly index: number;
  readonly name: string;
  readonly resources: ReadonlyMap<string, number>;
  /** Sent and not finished, oldest first. */
  batches: Batch[];
  /** Tasks in `batches` that are not finished. */
  outstanding: number;
  /** The tasks in `placed`, by function. */
  readonly placedWork: Workload;
  /** Tasks whose unfinished dependencies are all at this worker: they could follow in its next batch. */
  readonly followers: PriorityQueue;
  /** Tasks that could run and should run here: their data is here, or they must. */
  readonly placed: PriorityQueue;
  /** Tasks whose results were sent there as inputs, and are in its isolate. */
  replicas: Set<number>;
  /** Tasks whose results came from another worker's store: its own store may have them too. Outlives its isolate. */
  spares: Set<number>;
  /** Tasks of whose results it may still have a copy that nobody counts on: it is told when they are released. */
  leftovers: Set<number>;
  /** A task that may kill its worker runs here alone. */
  quarantined: boolean;
  /** Its memory is full: nothing is sent there. */
  paused: boolean;
  /** Its memory is full of results that cannot be spilled. It is paused as well. */
  full: boolean;
  /** Whether a steal was asked of this worker, or came back empty: then it waits for news before the next. */
  robbed: 'no' | 'asked' | 'in vain';
}

/** What a task of a function that was not measured yet counts in a worker's occupancy. */
export const UNKNOWN_SECONDS = 0.5e-3;

/** What is known of durations: by function number + 1, in seconds; 0: not measured yet. */
interface Durations {
  readonly expected: Float64Array;
}

/** How many tasks of each function there are: what they will take is known better later. */
export class Workload {
  readonly #durations: Durations;
  #counts = new Int32Array(8);
  /** Slots that may be above 0. */
  readonly #used = new Set<number>();

  constructor(durations: Durations) {
    this.#durations = durations;
  }

  /** `slot`: function number + 1. */
  add(slot: number): void {
    if (slot >= this.#counts.length) {
      const counts = new Int32Array(2 * (slot + 1));
      counts.set(this.#counts);
      this.#counts = counts;
    }
    if (this.#counts[slot]!++ === 0) this.#used.add(slot);
  }

  remove(slot: number): void {
    this.#counts[slot]!--;
  }

  /** How many tasks there are. */
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

/** A worker that has nothing yet. `size`: how many tasks there are. */
export function newWorker(
  { worker: index, name = String(index), resources = NO_RESOURCES }: WorkerAdded,
  size: number,
  durations: Durations,
): WorkerState {
  return {
    index,
    name,
    resources,
    batches: [],
    outstanding: 0,
    placedWork: new Workload(durations),
    followers: new PriorityQueue(size),
    placed: new PriorityQueue(size),
    replicas: new Set(),
    spares: new Set(),
    leftovers: new Set(),
    quarantined: false,
    paused: false,
    full: false,
    robbed: 'no',
  };
}
