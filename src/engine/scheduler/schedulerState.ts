// The scheduler's tables: columns by task id, and an object per worker. The counters are redundant on purpose: they
// make each decision O(1). rebuild() derives them anew, and validateState() compares them.
import { internalError } from '../../base/errors.js';
import { pushTo } from '../../base/lookUps.js';
import { dependenciesOf, dependentsOf } from '../../protocol/program.js';
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
import type { WorkerState } from './workerState.js';

export type TransitionListener = (id: number, from: number, to: number, worker: number) => void;

/** Affinity of a task whose unfinished dependencies are at more than one worker. */
export const SEVERAL = -2;

export class SchedulerState extends SchedulerColumns {
  /** Tasks that finished in a worker, which must send the result before the task counts as finished. */
  held = new Set<number>();
  /** Results that only their worker holds and that are being fetched → the tasks that wait for them elsewhere. */
  awaited = new Map<number, number[]>();
  /** Results to fetch since the last fetch instructions. */
  fetches: number[] = [];
  /** Task that waits → the worker that alone holds results for it. Null on a cluster, where a store holds them. */
  homes: Map<number, number> | null = null;
  readonly queued: PriorityQueue;
  /** Tasks that could run, but not on any connected worker. */
  parked = new Set<number>();
  /** Tasks that have failed themselves, without their dependents. They may be discarded. */
  failed = new Set<number>();
  readonly workers = new Map<number, WorkerState>();
  /** The same, for loops at each event: an iteration of a map makes several objects. */
  workerList: readonly WorkerState[] = [];
  /** Number of tasks in each state, without imports. */
  readonly counts = new Int32Array(STATE_NAMES.length);
  /** Number of forgotten tasks whose rows were removed. `counts` does not include them. */
  swept = 0;
  readonly log = new TransitionLog();
  /** Tasks released since the last release instruction. */
  releasedIds: number[] = [];
  /** Requested results that have arrived or were lost since the last query; null if there are no queries. */
  arrivals: { readonly id: number; readonly there: boolean }[] | null = null;
  /** True if some segment has tasks that not every worker may run. */
  restricted = false;
  /** True if workers are added when there is none for a task. */
  addsWorkers = false;
  /** Number of results in stores. While it is 0, tasks need no placement. */
  storedCount = 0;
  /** The shell's clock at the event that is being handled. */
  now = 0;
  onTransition: TransitionListener | undefined;

  constructor(graph: TaskGraph) {
    super(graph);
    this.queued = new PriorityQueue(graph.size, graph.order);
    this.counts[RELEASED] = graph.size;
  }

  transition(id: number, to: number): void {
    const from = this.state[id]!;
    if (!isAllowed(from, to)) {
      throw internalError(
        `Task ${id} may not go from ${STATE_NAMES[from]} to ${STATE_NAMES[to]}. Its story: ${JSON.stringify(this.log.story(id))}.`,
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

  /** Number of tasks that have a result, or had one that is not needed any more. */
  get finishedCount(): number {
    return this.counts[MEMORY]! + this.counts[FORGOTTEN]!;
  }

  /** True if a task runs or could run. Tasks that no connected worker may run do not count, unless a worker will be added. */
  get canContinue(): boolean {
    return this.counts[PROCESSING]! > 0 || this.canBegin;
  }

  /** True if a task that is not on a worker could run. */
  get canBegin(): boolean {
    return this.counts[QUEUED]! > (this.addsWorkers && this.workers.size === 0 ? 0 : this.parked.size);
  }

  isFinished(id: number): boolean {
    const state = this.state[id]!;
    return state === MEMORY || state === FORGOTTEN;
  }

  priorityOf(id: number): number {
    return this.graph.order?.priorities[id] ?? this.graph.segmentOf(id).priority;
  }

  /** Returns whether `a` should run before `b`. */
  isBefore(a: number, b: number): boolean {
    const { order, segments } = this.graph;
    const isEven = order === null && segments.length < 2;
    const difference = isEven ? 0 : this.priorityOf(a) - this.priorityOf(b);
    return difference === 0 ? a < b : difference > 0;
  }

  /** Assigns the task to this worker. Its dependents may follow there. */
  assign(id: number, worker: WorkerState): void {
    this.location[id] = worker.index;
    this.homes?.delete(id);
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
      // If a dependency is computed again after a loss, its dependent may be with a worker already.
      const follows = left === 0 && affinity === worker.index && this.state[dependent] === WAITING;
      if (follows) this.follow(dependent, worker);
    }
  }

  /**
   * Adds the task to a worker's followers, unless it may not run there, must wait for the end of a dependency, or needs a
   * result that only another worker holds.
   */
  follow(id: number, worker: WorkerState): void {
    if (!this.mayRun(id, worker) || this.#awaitsEnd(id, worker)) return;
    if (this.homes !== null && (this.homes.get(id) ?? worker.index) !== worker.index) return;
    worker.followers.add(id, this.priorityOf(id));
  }

  /**
   * Returns whether the task needs a result that is not fetched yet, or one of a seceded task, which does not end in the
   * order of the batches, or a result that its isolate may have dropped: an earlier run of the task, which was cancelled,
   * counted as a use.
   */
  #awaitsEnd(id: number, { seceded }: WorkerState): boolean {
    const isAgain = this.rerun[id] === 1;
    if (this.awaited.size === 0 && seceded.size === 0 && !isAgain) return false;
    for (const dependency of dependenciesOf(this.graph, id)) {
      if (seceded.has(dependency) || this.awaited.get(dependency)?.includes(id)) return true;
      const isRunning = this.state[dependency] === PROCESSING;
      if (isAgain && isRunning && Math.abs(this.batchOf[id]!) >= this.batchOf[dependency]!) return true;
    }
    return false;
  }

  mayRun(id: number, worker: WorkerState): boolean {
    if (!this.restricted) return true;
    const { workers, resources } = this.graph.segmentOf(id);
    if (workers !== null && !workers.has(worker.name)) return false;
    if (resources === null) return true;
    for (const [name, amount] of resources) if ((worker.resources.get(name) ?? 0) < amount) return false;
    return true;
  }

  /** Reverses assign for a task that its worker has not started, or that is to be tried again. */
  unassign(id: number): void {
    for (const dependent of dependentsOf(this.graph, id)) {
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

  /** Puts a task that could run into the common queue or at a worker, or parks it. */
  enqueue(id: number): void {
    if (this.restricted || this.storedCount > 0) {
      const worker = choosePlace(this, id);
      if (worker === 'none') {
        this.parked.add(id);
        return;
      }
      if (worker !== 'any') {
        this.place(id, worker);
        return;
      }
    }
    this.queued.add(id, this.priorityOf(id));
  }

  /** Reverses enqueue. */
  #dequeue(id: number): void {
    this.queued.delete(id);
    this.parked.delete(id);
    for (const worker of this.workers.values()) if (worker.placed.has(id)) this.unplace(id, worker);
  }

  /** Places the task at a worker, where it runs as soon as there is room. */
  place(id: number, worker: WorkerState): void {
    worker.placed.add(id, this.priorityOf(id));
    worker.placedWork.add(this.graph.functionOf[id]! + 1);
  }

  unplace(id: number, worker: WorkerState): void {
    worker.placed.delete(id);
    worker.placedWork.remove(this.graph.functionOf[id]! + 1);
  }

  /** Makes a task without a worker wait for those of its dependencies that only one worker holds. They are fetched. */
  awaitPrivateResults(id: number): void {
    for (const dependency of dependenciesOf(this.graph, id)) {
      if (!this.isPrivate(dependency)) continue;
      this.waiting[id]!++;
      if (!this.awaited.has(dependency)) this.fetches.push(dependency);
      pushTo(this.awaited, dependency, id);
    }
  }

  /** Records that a private result is now also with the caller, or in the store of the worker `holder`. */
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

  /** Records a result. Its dependents wait for one dependency less, and its dependencies have one need less. */
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
      for (const copy of graph.importersOf(id)) if (!isSettled(this.state[copy]!)) this.#finishImport(copy);
    this.#unneedDependencies(id);
    if (this.needs[id] === 0 && graph.requested[id] === 0) this.discard(id);
  }

  /** Finishes an import whose original has a result. Until then an import has no worker. */
  #finishImport(id: number): void {
    for (const dependent of dependentsOf(this.graph, id)) this.unassigned[dependent]!--;
    this.finish(id, CALLER);
  }

  #unneedDependencies(id: number): void {
    const { graph } = this;
    for (let edge = graph.dependencyOffsets[id]!; edge < graph.dependencyOffsets[id + 1]!; edge++) {
      const dependency = graph.dependencies[edge]!;
      if (--this.needs[dependency]! === 0 && graph.requested[dependency] === 0) this.discard(dependency);
    }
  }

  #queue(id: number): void {
    const affinity = this.affinity[id]!;
    if (affinity >= 0) this.workers.get(affinity)?.followers.delete(id);
    // It did not follow its dependencies, so any worker may run it.
    if (this.homes?.delete(id)) this.awaitPrivateResults(id);
    if (this.waiting[id]! > 0) return;
    this.readyAt[id] = this.now;
    this.transition(id, QUEUED);
    this.enqueue(id);
  }

  /**
   * Discards a task that is not needed any more: its result is released, or it does not run. Iterative, because
   * chains may be long.
   */
  discard(first: number): void {
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
        const { requested } = this.graph;
        for (const dependency of dependenciesOf(this.graph, id))
          if (--this.needs[dependency]! === 0 && requested[dependency] === 0) stack.push(dependency);
      }
    }
  }

  /** Forgets a task. The original of an import has one need less. */
  #release(id: number, stack: number[]): void {
    this.transition(id, FORGOTTEN);
    this.releasedIds.push(id);
    // An answer that is still on its way must not be taken for the result of a later run.
    if (this.awaited.size > 0) this.awaited.delete(id);
    if (!this.graph.isImport(id)) return;
    const origin = this.graph.originOf(id);
    if (--this.needs[origin]! === 0 && this.graph.requested[origin] === 0) stack.push(origin);
  }

  /** Removes an unfinished task from queues and batches. The caller sets its state. */
  takeOut(id: number): void {
    const at = this.state[id]!;
    if (at === QUEUED) this.#dequeue(id);
    else if (at === WAITING) {
      this.homes?.delete(id);
      const affinity = this.affinity[id]!;
      if (affinity >= 0) this.workers.get(affinity)?.followers.delete(id);
    } else if (at === PROCESSING) {
      this.onTakenOut?.(id, this.location[id]!);
      this.eraseFromBatch(id);
    }
  }

  /** Called with a task that its worker has and need not run any more. */
  onTakenOut: ((id: number, worker: number) => void) | undefined;

  /** Removes the task from its worker's batch, or from the worker's seceded tasks. */
  eraseFromBatch(id: number): void {
    const worker = this.workers.get(this.location[id]!);
    if (worker === undefined || (worker.seceded.size > 0 && worker.seceded.delete(id))) return;
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
}
