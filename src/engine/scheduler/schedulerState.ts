// The scheduler's tables: typed arrays by task id, ~40 bytes per task, and what it knows of each worker. The counters
// are redundant on purpose: they make each decision O(1), rebuild() derives them anew, and validate() compares.
import { LongpoleError } from '../../base/errors.js';
import { PriorityBitset } from './priorityBitset.js';
import {
  ERRED,
  FORGOTTEN,
  isAllowed,
  MEMORY,
  PROCESSING,
  QUEUED,
  RELEASED,
  STATE_NAMES,
  TransitionLog,
  WAITING,
} from './taskStates.js';

/** The graph as the scheduler sees it. Ids are ranks: a smaller id runs earlier. */
export interface SchedulerGraph {
  readonly size: number;
  readonly dependencyOffsets: Int32Array;
  readonly dependencies: Int32Array;
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  readonly requested: Uint8Array;
  /** Task id → function number, or -1: tasks of one function are expected to take equally long. */
  readonly functionOf: Int32Array;
  readonly functionCount: number;
}

/** Tasks sent to a worker in one message. */
export interface Batch {
  readonly number: number;
  readonly ids: Int32Array;
  /** How many of them the worker still has. */
  left: number;
}

export interface WorkerState {
  readonly index: number;
  /** Sent and not finished, oldest first. */
  batches: Batch[];
  /** Tasks in `batches` that are not finished. */
  outstanding: number;
  /** Tasks whose unfinished dependencies are all at this worker: they could follow in its next batch. */
  readonly followers: PriorityBitset;
  /** Tasks whose results were sent there as inputs, and are kept there. */
  readonly replicas: Set<number>;
  /** A task that may kill its worker runs here alone. */
  quarantined: boolean;
  /** Whether a steal was asked of this worker, or came back empty: then it waits for news before the next. */
  robbed: 'no' | 'asked' | 'in vain';
}

/** Results for tasks that are expected to take longer than this are sent out. */
const PRIVATE_SECONDS = 20e-3;

/** The caller holds the result. */
export const CALLER = -1;
const NO_WORKER = -1;
/** Unfinished dependencies are at more than one worker. */
export const SEVERAL = -2;

export class SchedulerState {
  readonly graph: SchedulerGraph;
  readonly state: Uint8Array;
  /** Dependencies whose results are not in memory. */
  readonly waiting: Int32Array;
  /** Dependencies that are neither in memory nor sent to a worker. */
  readonly unassigned: Int32Array;
  /** Dependents that have not finished. The result is released at 0. */
  readonly needs: Int32Array;
  /** Of a task in processing: its worker. Of a result in memory: the one worker that holds it, or CALLER. */
  readonly location: Int32Array;
  /** The worker that made the result. */
  readonly producer: Int32Array;
  /** The worker where the unfinished dependencies are, SEVERAL, or NO_WORKER. */
  readonly affinity: Int32Array;
  readonly batchOf: Int32Array;
  /** Times that the task may have killed its worker. */
  readonly deaths: Uint8Array;
  /** Finished in its worker, which is asked for the result before the task counts as finished. */
  readonly held = new Set<number>();
  /** Result that only its worker holds and that is being fetched → the tasks that wait for it elsewhere. */
  readonly awaited = new Map<number, number[]>();
  /** The result is more than a scalar: copies of it are worth a message when it is released. */
  readonly bulky: Uint8Array;
  /** Function number + 1 → expected seconds of a task; 0: not measured yet. */
  readonly expected: Float64Array;
  readonly queued: PriorityBitset;
  readonly workers = new Map<number, WorkerState>();
  /** State → count of tasks. */
  readonly counts = new Int32Array(STATE_NAMES.length);
  readonly log = new TransitionLog();
  /** Released since the last instruction said so. */
  releasedIds: number[] = [];

  constructor(graph: SchedulerGraph) {
    const { size } = graph;
    this.graph = graph;
    this.state = new Uint8Array(size);
    this.waiting = new Int32Array(size);
    this.unassigned = new Int32Array(size);
    this.needs = new Int32Array(size);
    this.location = new Int32Array(size).fill(CALLER);
    this.producer = new Int32Array(size).fill(NO_WORKER);
    this.affinity = new Int32Array(size).fill(NO_WORKER);
    this.batchOf = new Int32Array(size);
    this.deaths = new Uint8Array(size);
    this.bulky = new Uint8Array(size);
    this.expected = new Float64Array(graph.functionCount + 1);
    this.queued = new PriorityBitset(size);
    this.counts[RELEASED] = size;
  }

  transition(id: number, to: number): void {
    const from = this.state[id]!;
    if (!isAllowed(from, to)) {
      throw new LongpoleError(
        'ERR_LONGPOLE_INTERNAL',
        `Task ${id} may not go from ${STATE_NAMES[from]} to ${STATE_NAMES[to]}. Its story: ${JSON.stringify(this.log.story(id))}`,
      );
    }
    this.counts[from]!--;
    this.counts[to]!++;
    this.state[id] = to;
    this.log.record(id, from, to, this.location[id]!);
  }

  /** Tasks that have a result or had one that is not needed any more. */
  get finishedCount(): number {
    return this.counts[MEMORY]! + this.counts[FORGOTTEN]!;
  }

  isFinished(id: number): boolean {
    const state = this.state[id]!;
    return state === MEMORY || state === FORGOTTEN;
  }

  expectedSeconds(id: number): number {
    return this.expected[this.graph.functionOf[id]! + 1]!;
  }

  /** Moving average, so that the first calls, which V8 has not optimised yet, are soon outweighed. */
  learn(id: number, seconds: number): void {
    const slot = this.graph.functionOf[id]! + 1;
    const before = this.expected[slot]!;
    this.expected[slot] = before === 0 ? Math.max(seconds, 1e-9) : before + (seconds - before) * 0.125;
  }

  /** The task will be run by this worker: its dependents may follow there. */
  assign(id: number, worker: WorkerState): void {
    this.location[id] = worker.index;
    this.transition(id, PROCESSING);
    const { dependentOffsets, dependents } = this.graph;
    const end = dependentOffsets[id + 1]!;
    for (let edge = dependentOffsets[id]!; edge < end; edge++) {
      const dependent = dependents[edge]!;
      const inFlight = this.waiting[dependent]! - this.unassigned[dependent]!;
      const left = --this.unassigned[dependent]!;
      const before = this.affinity[dependent]!;
      const affinity = inFlight === 0 || before === worker.index ? worker.index : SEVERAL;
      this.affinity[dependent] = affinity;
      // A task whose dependency is computed again, after a loss, may itself be with a worker already.
      const follows = left === 0 && affinity === worker.index && this.state[dependent] === WAITING;
      if (follows) worker.followers.add(dependent);
    }
  }

  /** The reverse of assign, for a task that its worker has not started. Its own dependents must have been taken back before. */
  unassign(id: number): void {
    const { dependentOffsets, dependents } = this.graph;
    for (let edge = dependentOffsets[id]!; edge < dependentOffsets[id + 1]!; edge++) {
      const dependent = dependents[edge]!;
      this.unassigned[dependent]!++;
      const affinity = this.affinity[dependent]!;
      if (affinity >= 0) this.workers.get(affinity)?.followers.delete(dependent);
    }
    this.location[id] = CALLER;
    if (this.waiting[id] === 0) {
      this.transition(id, RELEASED);
      this.transition(id, QUEUED);
      this.queued.add(id);
    } else {
      this.transition(id, RELEASED);
      this.transition(id, WAITING);
    }
  }

  /**
   * Makes a task that is with no worker wait for those of its dependencies that only one worker holds. Returns the
   * dependencies that have to be fetched for it and were not yet.
   */
  awaitPrivateResults(id: number): number[] {
    const fetches: number[] = [];
    const { dependencyOffsets, dependencies } = this.graph;
    for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++) {
      const dependency = dependencies[edge]!;
      if (this.state[dependency] !== MEMORY || this.location[dependency] === CALLER) continue;
      this.waiting[id]!++;
      const waiters = this.awaited.get(dependency);
      if (waiters === undefined) {
        this.awaited.set(dependency, [id]);
        fetches.push(dependency);
      } else {
        waiters.push(id);
      }
    }
    return fetches;
  }

  /** A result that only its worker held is with the caller too. */
  fetched(id: number): void {
    if (this.held.delete(id)) {
      this.finish(id, CALLER);
      return;
    }
    const waiters = this.awaited.get(id);
    if (waiters === undefined) return;
    this.awaited.delete(id);
    this.location[id] = CALLER;
    for (const waiter of waiters) {
      if (--this.waiting[waiter]! === 0 && this.state[waiter] === WAITING) this.#queue(waiter);
    }
  }

  /** Whether every task that needs this result is at the given worker or has run there. */
  isPrivateTo(id: number, worker: number): boolean {
    const { dependentOffsets, dependents } = this.graph;
    const end = dependentOffsets[id + 1]!;
    for (let edge = dependentOffsets[id]!; edge < end; edge++) {
      const dependent = dependents[edge]!;
      const state = this.state[dependent]!;
      if (state === PROCESSING ? this.location[dependent] !== worker : !this.isFinished(dependent))
        return false;
    }
    return true;
  }

  /**
   * Whether a result may stay with its worker: the tasks that need it are sent there, and are known to be so short that
   * nobody will want to take them over. What a long task needs must be within everybody's reach, because its worker
   * cannot hand anything out while a task runs.
   */
  mayStayPrivate(id: number, worker: number): boolean {
    if (!this.isPrivateTo(id, worker)) return false;
    const { dependentOffsets, dependents } = this.graph;
    const end = dependentOffsets[id + 1]!;
    for (let edge = dependentOffsets[id]!; edge < end; edge++) {
      const seconds = this.expectedSeconds(dependents[edge]!);
      if (seconds === 0 || seconds > PRIVATE_SECONDS) return false;
    }
    return true;
  }

  /** The result is there: dependents wait for one thing less, dependencies are needed by one task less. */
  finish(id: number, location: number): void {
    const { graph, waiting, needs } = this;
    this.location[id] = location;
    this.transition(id, MEMORY);
    for (let edge = graph.dependentOffsets[id]!; edge < graph.dependentOffsets[id + 1]!; edge++) {
      const dependent = graph.dependents[edge]!;
      if (--waiting[dependent]! === 0 && this.state[dependent] === WAITING) this.#queue(dependent);
    }
    for (let edge = graph.dependencyOffsets[id]!; edge < graph.dependencyOffsets[id + 1]!; edge++) {
      const dependency = graph.dependencies[edge]!;
      if (--needs[dependency]! === 0 && graph.requested[dependency] === 0) this.#release(dependency);
    }
  }

  #queue(id: number): void {
    const affinity = this.affinity[id]!;
    if (affinity >= 0) this.workers.get(affinity)?.followers.delete(id);
    this.transition(id, QUEUED);
    this.queued.add(id);
  }

  #release(id: number): void {
    if (this.held.delete(id)) this.finish(id, this.location[id]!);
    this.transition(id, FORGOTTEN);
    this.releasedIds.push(id);
  }

  fail(id: number): void {
    this.transition(id, ERRED);
  }
}
