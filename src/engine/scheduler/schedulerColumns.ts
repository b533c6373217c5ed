// The scheduler's data about each task, as columns by task id: about 50 bytes per task.
import { resizedFloat64, resizedInt32, resizedUint8 } from '../../base/resized.js';
import { grownCapacity, type Move, shrunkCapacity, type TaskGraph } from './taskGraph.js';
import { MEMORY } from './taskStates.js';
import { UNKNOWN_SECONDS } from './workerState.js';

/** Location of a result that the caller holds. */
export const CALLER = -1;
export const NO_WORKER = -1;

/** The worker itself has reported that it has the result. */
export const STORED = 1;
/** The result was sent to the worker, and its earlier holder does not have it any more. */
export const IN_TRANSIT = 2;

/** Names of the columns by the type of their numbers. */
const BYTES = ['state', 'deaths', 'retried', 'rerun', 'bulky', 'stored'] as const;
const INTEGERS = ['waiting', 'unassigned', 'needs', 'location', 'producer', 'affinity', 'batchOf'] as const;
const FLOATS = ['nbytes', 'readyAt'] as const;

export class SchedulerColumns {
  readonly graph: TaskGraph;
  state = new Uint8Array(0);
  /** Dependencies whose results are not in memory. */
  waiting = new Int32Array(0);
  /** Dependencies that are neither in memory nor sent to a worker. */
  unassigned = new Int32Array(0);
  /** Unfinished dependents, and imports that are not forgotten. At 0 the result is released. */
  needs = new Int32Array(0);
  /** Worker of a task in processing. Holder of a result in memory: a worker, or CALLER. */
  location = new Int32Array(0);
  /** Worker whose isolate computed the result and still has it. */
  producer = new Int32Array(0);
  /** Worker that has all unfinished dependencies, SEVERAL, or NO_WORKER. */
  affinity = new Int32Array(0);
  /** Batch in which the task was sent last, negative once the task has seceded. */
  batchOf = new Int32Array(0);
  /** Number of times that the task may have killed its worker, at most 255. */
  deaths = new Uint8Array(0);
  /** Number of retries after the task threw, at most 255. */
  retried = new Uint8Array(0);
  /** 1 if the task has run before and its result was lost. An isolate may have counted that the task used its inputs. */
  rerun = new Uint8Array(0);
  /** 1 if the result is more than a scalar, so that the release of copies is worth a message. */
  bulky = new Uint8Array(0);
  /**
   * STORED or IN_TRANSIT if the result is in a worker's store, where other workers can reach it at any time;
   * otherwise 0.
   */
  stored = new Uint8Array(0);
  /** Bytes of the result; 0 while unknown. */
  nbytes = new Float64Array(0);
  /** Time at which the task could first have been sent, on the shell's clock. */
  readyAt = new Float64Array(0);

  /** Expected seconds of a task by function number + 1; 0 if not measured yet. */
  expected: Float64Array;

  constructor(graph: TaskGraph) {
    this.graph = graph;
    this.expected = new Float64Array(graph.functionCount + 1);
    this.#resize(graph.size);
  }

  /** Returns whether only one isolate has the result. */
  isPrivate(id: number): boolean {
    return this.state[id] === MEMORY && this.location[id] !== CALLER && this.stored[id] === 0;
  }

  expectedSeconds(id: number): number {
    return this.expected[this.graph.functionOf[id]! + 1]!;
  }

  /** Returns the seconds that the task adds to its worker's occupancy. */
  load(id: number): number {
    return this.expectedSeconds(id) || UNKNOWN_SECONDS;
  }

  /** Updates a moving average, so that the first calls, which V8 has not optimised yet, soon lose their weight. */
  learn(id: number, seconds: number): void {
    const slot = this.graph.functionOf[id]! + 1;
    const before = this.expected[slot]!;
    this.expected[slot] = before === 0 ? Math.max(seconds, 1e-9) : before + (seconds - before) * 0.125;
  }

  /** Makes room for ids below `size`. New rows belong to tasks without any history. */
  reserve(size: number): void {
    const before = this.state.length;
    if (size > before) this.#resize(grownCapacity(size, before));
  }

  /** Moves the rows of tasks that got smaller ids, in ascending order, and clears the rows behind them. */
  move(kept: readonly Move[], before: number, after: number): void {
    for (const name of [...BYTES, ...INTEGERS, ...FLOATS]) {
      const column = this[name];
      for (const { from, to, size } of kept) if (to !== from) column.copyWithin(to, from, from + size);
      column.fill(0, after, before);
    }
    this.location.fill(CALLER, after, before);
    this.producer.fill(NO_WORKER, after, before);
    this.affinity.fill(NO_WORKER, after, before);
    const capacity = shrunkCapacity(before, this.state.length);
    if (capacity < this.state.length) this.#resize(capacity);
  }

  #resize(capacity: number): void {
    const from = this.state.length;
    for (const name of BYTES) this[name] = resizedUint8(this[name], capacity);
    for (const name of INTEGERS) this[name] = resizedInt32(this[name], capacity);
    for (const name of FLOATS) this[name] = resizedFloat64(this[name], capacity);
    this.location.fill(CALLER, from);
    this.producer.fill(NO_WORKER, from);
    this.affinity.fill(NO_WORKER, from);
  }
}
