// The scheduler's tables: what it knows of each task, in columns by task id, and of each worker. The counters are
// redundant on purpose: they make each decision O(1), rebuild() derives them anew, and validate() compares.
import { LongpoleError } from '../../base/errors.js';
import { choosePlace } from './placement.js';
import { PriorityQueue } from './priorityQueue.js';
import { CALLER, SchedulerColumns, STORED } from './schedulerColumns.js';
import type { TaskGraph } from './taskGraph.js';
import {
  ERRED,
  FORGOTTEN,
  isAllowed,
  isSettled,
  MEMORY,
  PROCESSING,
  QUEUED,
  RELEASED,
  STATE_NAMES,
  TransitionLog,
  WAITING,
} from './taskStates.js';
import { UNKNOWN_SECONDS, type WorkerState } from './workerState.js';

/** One transition, for whoever listens. */
export type TransitionListener = (id: number, from: number, to: number, worker: number) => void;

/** Unfinished dependencies are at more than one worker. */
export const SEVERAL = -2;

export class SchedulerState extends SchedulerColumns {
  /** Finished in its worker, which is asked for the result before the task counts as finished. */
  held = new Set<number>();
  /** Result that only its worker holds and that is being fetched → the tasks that wait for it elsewhere. */
  awaited = new Map<number, number[]>();
  /** Function number + 1 → expected seconds of a task; 0: not measured yet. */
  expected: Float64Array;
  readonly queued: PriorityQueue;
  /** Tasks that could run, but no worker that is there may run them. */
  parked = new Set<number>();
  readonly workers = new Map<number, WorkerState>();
  /** State → count of tasks, imports not counted. */
  readonly counts = new Int32Array(STATE_NAMES.length);
  /** Forgotten tasks that are not among the counts any more, because their rows were given up. */
  swept = 0;
  readonly log = new TransitionLog();
  /** Released since the last instruction said so. */
  releasedIds: number[] = [];
  /** Requested results that are there, and that were and are lost, since somebody looked; null: nobody looks. */
  arrivals: { readonly id: number; readonly there: boolean }[] | null = null;
  /** Some segment has tasks that not every worker may run. */
  restricted = false;
  /** How many results are in stores: as long as there are none, tasks need no place. */
  storedCount = 0;
  /** The shell's clock at the event that is being handled. */
  now = 0;
  onTransition: TransitionListener | undefined;

  constructor(graph: TaskGraph) {
    super(graph);
    this.expected = new Float64Array(graph.functionCount + 1);
    this.queued = new PriorityQueue(graph.size);
    this.counts[RELEASED] = graph.size;
  }

  transition(id: number, to: number): void {
    const from = this.state[id]!;
    if (!isAllowed(from, to)) {
      throw new LongpoleError(
        'ERR_LONGPOLE_INTERNAL',
        `Task ${id} may not go from ${STATE_NAMES[from]} to ${STATE_NAMES[to]}. Its story: ${JSON.stringify(this.log.story(id))}`,
      );
    }
    this.state[id] = to;
    if (isSettled(from) !== isSettled(to) || from === FORGOTTEN || to === FORGOTTEN)
      this.#countInSegment(id, from, to);
    this.log.record(id, from, to, this.location[id]!);
    if (this.graph.isImport(id)) return;
    this.counts[from]!--;
    this.counts[to]!++;
    this.onTransition?.(id, from, to, this.location[id]!);
  }

  #countInSegment(id: number, from: number, to: number): void {
    const segment = this.graph.segmentOf(id);
    if (isSettled(from) && !isSettled(to)) segment.unfinished++;
    if (!isSettled(from) && isSettled(to)) segment.unfinished--;
    if (from === FORGOTTEN) segment.alive++;
    if (to === FORGOTTEN && --segment.alive === 0) this.graph.bury(segment);
  }

  /** Tasks that have a result or had one that is not needed any more. */
  get finishedCount(): number {
    return this.counts[MEMORY]! + this.counts[FORGOTTEN]!;
  }

  /** Some task runs or could; those that nobody who is there may run do not count. */
  get canGoOn(): boolean {
    return this.counts[PROCESSING]! > 0 || this.counts[QUEUED]! > this.parked.size;
  }

  isFinished(id: number): boolean {
    const state = this.state[id]!;
    return state === MEMORY || state === FORGOTTEN;
  }

  expectedSeconds(id: number): number {
    return this.expected[this.graph.functionOf[id]! + 1]!;
  }

  /** What the task counts in its worker's occupancy. */
  load(id: number): number {
    return this.expectedSeconds(id) || UNKNOWN_SECONDS;
  }

  priorityOf(id: number): number {
    return this.graph.segmentOf(id).priority;
  }

  /** Whether `a` should run before `b`. */
  isBefore(a: number, b: number): boolean {
    const difference = this.graph.segments.length < 2 ? 0 : this.priorityOf(a) - this.priorityOf(b);
    return difference === 0 ? a < b : difference > 0;
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
      if (follows) this.follow(dependent, worker);
    }
  }

  /** The task goes to a worker's followers, unless it may not run there or needs what still has to be fetched. */
  follow(id: number, worker: WorkerState): void {
    if (!this.mayRun(id, worker) || this.#awaits(id)) return;
    worker.followers.add(id, this.priorityOf(id));
  }

  #awaits(id: number): boolean {
    if (this.awaited.size === 0) return false;
    const { dependencyOffsets, dependencies } = this.graph;
    for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++)
      if (this.awaited.get(dependencies[edge]!)?.includes(id)) return true;
    return false;
  }

  /** Whether the task's segment lets this worker run it. */
  mayRun(id: number, worker: WorkerState): boolean {
    if (!this.restricted) return true;
    const { workers, resources } = this.graph.segmentOf(id);
    if (workers !== null && !workers.has(worker.name)) return false;
    if (resources === null) return true;
    for (const [name, amount] of resources) if ((worker.resources.get(name) ?? 0) < amount) return false;
    return true;
  }

  /** The reverse of assign, for a task that its worker has not started, or that is to be tried again. */
  unassign(id: number): void {
    const { dependentOffsets, dependents } = this.graph;
    for (let edge = dependentOffsets[id]!; edge < dependentOffsets[id + 1]!; edge++) {
      const dependent = dependents[edge]!;
      this.unassigned[dependent]!++;
      const affinity = this.affinity[dependent]!;
      if (affinity >= 0) this.workers.get(affinity)?.followers.delete(dependent);
    }
    this.location[id] = CALLER;
    this.transition(id, RELEASED);
    if (this.waiting[id] === 0) {
      this.transition(id, QUEUED);
      this.enqueue(id);
    } else {
      this.transition(id, WAITING);
    }
  }

  /** A task that could run goes to the common queue, to the worker where it should run, or is parked. */
  enqueue(id: number): void {
    if (this.restricted || this.storedCount > 0) {
      const worker = choosePlace(this, id);
      if (worker === 'nobody') {
        this.parked.add(id);
        return;
      }
      if (worker !== 'anybody') {
        this.place(id, worker);
        return;
      }
    }
    this.queued.add(id, this.priorityOf(id));
  }

  /** The reverse of enqueue. */
  dequeue(id: number): void {
    this.queued.delete(id);
    this.parked.delete(id);
    for (const worker of this.workers.values()) if (worker.placed.has(id)) this.unplace(id, worker);
  }

  /** The task is to run there, as soon as the worker has room for it. */
  place(id: number, worker: WorkerState): void {
    worker.placed.add(id, this.priorityOf(id));
    worker.placedWork.add(this.graph.functionOf[id]! + 1);
  }

  unplace(id: number, worker: WorkerState): void {
    worker.placed.delete(id);
    worker.placedWork.remove(this.graph.functionOf[id]! + 1);
  }

  /** Whether the result is in one isolate and nowhere else. */
  isPrivate(id: number): boolean {
    return this.state[id] === MEMORY && this.location[id] !== CALLER && this.stored[id] === 0;
  }

  /** A result that only its isolate held is with the caller too, or (`holder`) in that worker's store. */
  fetched(id: number, holder: number): void {
    if (holder !== CALLER) this.store(id);
    if (this.held.delete(id)) {
      this.finish(id, holder);
      return;
    }
    this.location[id] = holder;
    const waiters = this.awaited.get(id);
    if (waiters === undefined) return;
    this.awaited.delete(id);
    for (const waiter of waiters) {
      if (--this.waiting[waiter]! === 0 && this.state[waiter] === WAITING) this.#queue(waiter);
    }
  }

  store(id: number): void {
    if (this.stored[id] !== 0) return;
    this.stored[id] = STORED;
    this.storedCount++;
  }

  unstore(id: number): void {
    if (this.stored[id] === 0) return;
    this.stored[id] = 0;
    this.storedCount--;
  }

  /** The result is there: dependents wait for one thing less, dependencies are needed by one task less. */
  finish(id: number, location: number): void {
    const { graph, waiting } = this;
    this.location[id] = location;
    this.transition(id, MEMORY);
    if (this.arrivals !== null && graph.requested[id] === 1) this.arrivals.push({ id, there: true });
    for (let edge = graph.dependentOffsets[id]!; edge < graph.dependentOffsets[id + 1]!; edge++) {
      const dependent = graph.dependents[edge]!;
      if (--waiting[dependent]! === 0 && this.state[dependent] === WAITING) this.#queue(dependent);
    }
    if (graph.importers.size > 0)
      for (const copy of graph.importersOf(id)) if (!isSettled(this.state[copy]!)) this.finishImport(copy);
    this.#unneedDependencies(id);
    if (this.needs[id] === 0 && graph.requested[id] === 0) this.letGo(id);
  }

  /** What the import stands for is there. An import is with no worker before that. */
  finishImport(id: number): void {
    const { dependentOffsets, dependents } = this.graph;
    for (let edge = dependentOffsets[id]!; edge < dependentOffsets[id + 1]!; edge++)
      this.unassigned[dependents[edge]!]!--;
    this.finish(id, CALLER);
  }

  #unneedDependencies(id: number): void {
    const { graph } = this;
    for (let edge = graph.dependencyOffsets[id]!; edge < graph.dependencyOffsets[id + 1]!; edge++)
      this.#unneed(graph.dependencies[edge]!);
  }

  #unneed(id: number): void {
    if (--this.needs[id]! === 0 && this.graph.requested[id] === 0) this.letGo(id);
  }

  #queue(id: number): void {
    const affinity = this.affinity[id]!;
    if (affinity >= 0) this.workers.get(affinity)?.followers.delete(id);
    this.readyAt[id] = this.now;
    this.transition(id, QUEUED);
    this.enqueue(id);
  }

  /** Nobody needs the task any more: its result is dropped, or it is not run. Iterative: a chain may be long. */
  letGo(first: number): void {
    const stack = [first];
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      const at = this.state[id]!;
      if (at === FORGOTTEN) continue;
      if (this.held.delete(id)) {
        this.location[id] = this.producer[id]!;
        this.transition(id, MEMORY);
        this.#release(id, stack);
        this.graph.segmentOf(id).irregular = true;
        this.#unneedDependencies(id);
      } else if (at === MEMORY || at === ERRED) {
        this.#release(id, stack);
      } else {
        this.takeOut(id);
        this.#release(id, stack);
        this.graph.segmentOf(id).irregular = true;
        const { dependencyOffsets, dependencies, requested } = this.graph;
        for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++) {
          const dependency = dependencies[edge]!;
          if (--this.needs[dependency]! === 0 && requested[dependency] === 0) stack.push(dependency);
        }
      }
    }
  }

  /** Forgets a task; what an import stood for is needed by one less. */
  #release(id: number, stack: number[]): void {
    this.transition(id, FORGOTTEN);
    this.releasedIds.push(id);
    // An answer that is under way must not be taken for the result of a later run.
    if (this.awaited.size > 0) this.awaited.delete(id);
    if (!this.graph.isImport(id)) return;
    const origin = this.graph.originOf(id);
    if (--this.needs[origin]! === 0 && this.graph.requested[origin] === 0) stack.push(origin);
  }

  /** Takes a task that has not finished out of queues and batches. Its state is the caller's business. */
  takeOut(id: number): void {
    const at = this.state[id]!;
    if (at === QUEUED) this.dequeue(id);
    else if (at === WAITING) {
      const affinity = this.affinity[id]!;
      if (affinity >= 0) this.workers.get(affinity)?.followers.delete(id);
    } else if (at === PROCESSING) {
      this.onTakenOut?.(id, this.location[id]!);
      this.eraseFromBatch(id);
    }
  }

  /** Told of a task that its worker has and need not run any more. */
  onTakenOut: ((id: number, worker: number) => void) | undefined;

  /** The worker does not have the task any more. */
  eraseFromBatch(id: number): void {
    const worker = this.workers.get(this.location[id]!);
    if (worker === undefined) return;
    const number = this.batchOf[id]!;
    const { batches } = worker;
    let at = 0;
    while (at < batches.length && batches[at]!.number !== number) at++;
    const batch = batches[at];
    if (batch === undefined) return;
    worker.outstanding--;
    if (--batch.left > 0) return;
    batches.splice(at, 1);
    worker.quarantined = false;
  }

  fail(id: number): void {
    this.transition(id, ERRED);
  }
}
