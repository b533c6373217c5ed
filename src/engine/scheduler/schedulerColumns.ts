// What the scheduler knows of each task, as columns by task id: about 50 bytes per task.
import { resizedFloat64, resizedInt32, resizedUint8 } from '../../base/resized.js';
import { grownCapacity, type Move, shrunkCapacity, type TaskGraph } from './taskGraph.js';

/** The caller holds the result. */
export const CALLER = -1;
export const NO_WORKER = -1;

/** The worker said itself that it has the result. */
export const STORED = 1;
/** The worker was sent the result, and who had it before has it no more. */
export const RUMOURED = 2;

export class SchedulerColumns {
  readonly graph: TaskGraph;
  state = new Uint8Array(0);
  /** Dependencies whose results are not in memory. */
  waiting = new Int32Array(0);
  /** Dependencies that are neither in memory nor sent to a worker. */
  unassigned = new Int32Array(0);
  /** Dependents that have not finished, and imports that are not forgotten. The result is released at 0. */
  needs = new Int32Array(0);
  /** Of a task in processing: its worker. Of a result in memory: the worker that holds it, or CALLER. */
  location = new Int32Array(0);
  /** The worker whose isolate made the result and still knows it. */
  producer = new Int32Array(0);
  /** The worker where the unfinished dependencies are, SEVERAL, or NO_WORKER. */
  affinity = new Int32Array(0);
  batchOf = new Int32Array(0);
  /** Times that the task may have killed its worker; 255: at least. */
  deaths = new Uint8Array(0);
  /** Times that the task threw and was tried again; 255: at least. */
  retried = new Uint8Array(0);
  /** The task has run before, and its result was lost: an isolate may have counted that it used its inputs. */
  rerun = new Uint8Array(0);
  /** The result is more than a scalar: copies of it are worth a message when it is released. */
  bulky = new Uint8Array(0);
  /** The result is in its worker's store, where others reach it at any time: STORED, or RUMOURED; otherwise 0. */
  stored = new Uint8Array(0);
  /** Bytes of the result, where they are known. */
  nbytes = new Float64Array(0);
  /** When the task could have been sent for the first time, on the shell's clock. */
  readyAt = new Float64Array(0);

  constructor(graph: TaskGraph) {
    this.graph = graph;
    this.#resize(graph.size);
  }

  /** Makes room for ids below `size`; new rows are those of tasks that were never looked at. */
  reserve(size: number): void {
    const before = this.state.length;
    if (size > before) this.#resize(grownCapacity(size, before));
  }

  /** Moves the rows of tasks that got smaller ids, in ascending order, and clears what is behind them. */
  move(kept: readonly Move[], before: number, after: number): void {
    const columns = [
      this.state,
      this.waiting,
      this.unassigned,
      this.needs,
      this.location,
      this.producer,
      this.affinity,
      this.batchOf,
      this.deaths,
      this.retried,
      this.rerun,
      this.bulky,
      this.stored,
      this.nbytes,
      this.readyAt,
    ];
    for (const column of columns) {
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
    this.state = resizedUint8(this.state, capacity);
    this.waiting = resizedInt32(this.waiting, capacity);
    this.unassigned = resizedInt32(this.unassigned, capacity);
    this.needs = resizedInt32(this.needs, capacity);
    this.location = resizedInt32(this.location, capacity);
    this.producer = resizedInt32(this.producer, capacity);
    this.affinity = resizedInt32(this.affinity, capacity);
    this.batchOf = resizedInt32(this.batchOf, capacity);
    this.deaths = resizedUint8(this.deaths, capacity);
    this.retried = resizedUint8(this.retried, capacity);
    this.rerun = resizedUint8(this.rerun, capacity);
    this.bulky = resizedUint8(this.bulky, capacity);
    this.stored = resizedUint8(this.stored, capacity);
    this.nbytes = resizedFloat64(this.nbytes, capacity);
    this.readyAt = resizedFloat64(this.readyAt, capacity);
    this.location.fill(CALLER, from);
    this.producer.fill(NO_WORKER, from);
    this.affinity.fill(NO_WORKER, from);
  }
}
