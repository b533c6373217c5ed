// The scheduler, a pure state machine: events in, instructions out; no clock, no timers, no messages. The same
// scheduler serves getSync, getThreaded, getMultiprocessing and the cluster. They differ in the shell that executes
// its instructions.
import { type Handlers, handle } from '../../base/handlers.js';
import { pushTo } from '../../base/lookUps.js';
import {
  type BatchLimits,
  bareDispatch,
  buildBatch,
  chooseRecall,
  chooseSteal,
  DEFAULT_LIMITS,
  describeBatch,
  mostBatches,
} from './batching.js';
import { compactState } from './compaction.js';
import type {
  Instruction,
  ResultsFetched,
  SchedulerEvent,
  TaskErred,
  TasksFinished,
  WorkerAdded,
  WorkerRemoved,
} from './events.js';
import { cancelTask, failTask, giveUp, suspectsOf } from './failures.js';
import { addGraph } from './graphAddition.js';
import { pauseWorker, stuckTasks } from './pausing.js';
import { takeOver } from './placement.js';
import {
  type Failing,
  forgetResults,
  forgetWorker,
  type Losses,
  rebuild,
  requestResults,
} from './recovery.js';
import { evictResults, noteCopy, takeReleases } from './releases.js';
import { finishTasks, isAt, secedeTask, takeBack } from './reports.js';
import { restartTasks } from './retries.js';
import { CALLER, NO_WORKER } from './schedulerColumns.js';
import { SchedulerState } from './schedulerState.js';
import { type SchedulerGraph, type Segment, TaskGraph } from './taskGraph.js';
import { ERRED, FORGOTTEN, STATE_NAMES, type Transition } from './taskStates.js';
import { newWorker, type WorkerState } from './workerState.js';

export interface SchedulerOptions {
  /** Worker deaths during a task after which the task fails. Default 3, minimum 1. */
  readonly allowedFailures?: number | undefined;
  readonly limits?: Partial<BatchLimits>;
  /** See OpenRunMessage.concurrentTasks. Default 1. */
  readonly concurrentTasks?: number | undefined;
  /** Whether the only worker shares the caller's memory. A dispatch then contains only ids of tasks. Default false. */
  readonly bare?: boolean;
  /** Durations known beforehand; see SchedulerState.expected. */
  readonly expected?: Float64Array;
}

const DEFAULT_ALLOWED_FAILURES = 3;
/** Largest value of the counts of deaths and retries. */
const MAX_COUNT = 255;

export class Scheduler {
  readonly state: SchedulerState;
  readonly #limits: BatchLimits;
  readonly #allowedFailures: number;
  readonly #bare: boolean;
  /** True if a failed task fails only its dependents. Otherwise it ends the run. */
  readonly #lasting: boolean;
  #nextBatch = 1;
  #instructions: Instruction[] = [];
  /** Worker → tasks that it need not run any more. */
  readonly #cancelled = new Map<number, number[]>();

  readonly #handlers: Handlers<SchedulerEvent> = {
    'tasks-finished': (event) => finishTasks(this.state, event),
    'graph-added': (event) => this.#failAll(addGraph(this.state, event)),
    'tasks-cancelled': ({ ids }) => this.#cancel(ids),
    'tasks-retried': ({ ids }) => {
      restartTasks(this.state, ids);
      rebuild(this.state);
    },
    'results-unwanted': ({ ids }) => this.#unwant(ids),
    'results-wanted': ({ ids }) => this.#recover(requestResults(this.state, ids)),
    'results-missing': ({ worker, ids }) => this.#recover(forgetResults(this.state, worker, ids)),
    'results-evicted': (event) => evictResults(this.state, event),
    'worker-added': (event) => this.#addWorker(event),
    'worker-removed': (event) => this.#removeWorker(event),
    'worker-paused': (event) => pauseWorker(this.state, event),
    'tasks-stuck': ({ ids }) => {
      for (const id of ids) if (giveUp(this.state, id)) this.#fail(id, false);
    },
    'task-erred': (event) => this.#taskErred(event),
    'task-seceded': (event) => secedeTask(this.state, event),
    'tasks-stolen': ({ worker, ids }) => this.#takeBack(worker, ids),
    'results-fetched': (event) => this.#fetched(event),
    'idle-check': () => {
      for (const worker of this.state.workers.values())
        if (worker.stealState === 'empty') worker.stealState = 'idle';
    },
  };

  /** Creates a scheduler for the single graph of a run; with null, for a cluster, to which graphs are added. */
  constructor(graph: SchedulerGraph | null, options: SchedulerOptions = {}) {
    this.#lasting = graph === null;
    this.state = new SchedulerState(graph === null ? new TaskGraph() : TaskGraph.of(graph));
    const { limits, concurrentTasks = 1 } = options;
    this.#limits = { ...DEFAULT_LIMITS, ...limits, concurrentTasks };
    this.#allowedFailures = options.allowedFailures ?? DEFAULT_ALLOWED_FAILURES;
    this.#bare = options.bare ?? false;
    if (this.#lasting) this.state.arrivals = [];
    else this.state.homes = new Map();
    if (options.expected !== undefined) this.state.expected.set(options.expected);
    this.state.onTakenOut = (id, worker) => pushTo(this.#cancelled, worker, id);
    rebuild(this.state);
  }

  /** True when all tasks have finished. */
  get isDone(): boolean {
    return this.state.finishedCount === this.state.graph.size;
  }

  /** Handles an event and returns the instructions to execute, in this order. */
  handle(event: SchedulerEvent): Instruction[] {
    if (event.type === 'task-erred' && !this.#lasting) {
      this.state.eraseFromBatch(event.id);
      this.state.transition(event.id, ERRED);
      return [];
    }
    handle(this.#handlers, event.type, event);
    this.#fetch();
    this.#fill(event.type === 'idle-check');
    return this.#take();
  }

  /**
   * Records finished tasks without sending new work. A shell uses it to report one task at a time to observers, with
   * exact states between them. A call of `handle` with any event must follow.
   */
  finishQuietly(event: TasksFinished): void {
    finishTasks(this.state, event);
  }

  /** The segment that was added last. */
  get lastSegment(): Segment | undefined {
    return this.state.graph.segments.at(-1);
  }

  /**
   * Frees the memory of dead segments when they have at least `least` tasks, default 4096, and half of all tasks.
   * Returns whether ids have changed, as `Segment.base` describes. Call it between two events.
   */
  compact(least?: number): boolean {
    return compactState(this.state, least);
  }

  /** Forgets copies of results: the isolates have closed the segment, which has nothing left to run. */
  forgetCopies({ base, size }: Segment): void {
    const { state } = this;
    state.producer.fill(NO_WORKER, base, base + size);
    for (const { replicas } of state.workerList) {
      if (size < replicas.size) for (let id = base; id < base + size; id++) replicas.delete(id);
      else for (const id of replicas) if (id >= base && id < base + size) replicas.delete(id);
    }
  }

  /** Returns the requested results that have come (`there`) or were lost since the last call. */
  takeArrivals(): readonly { readonly id: number; readonly there: boolean }[] {
    const arrivals = this.state.arrivals ?? [];
    if (arrivals.length > 0) this.state.arrivals = [];
    return arrivals;
  }

  stuckTasks(): number[] {
    return stuckTasks(this.state);
  }

  /** Returns the last transitions of a task, oldest first. */
  story(id: number): Transition[] {
    return this.state.log.story(id);
  }

  stateName(id: number): (typeof STATE_NAMES)[number] {
    return STATE_NAMES[this.state.state[id]!]!;
  }

  #take(): Instruction[] {
    const releases = takeReleases(this.state);
    if (releases !== null) this.#instructions.push(releases);
    const instructions = this.#instructions;
    this.#instructions = [];
    return this.#cancelled.size === 0 ? instructions : this.#takeCancels().concat(instructions);
  }

  /** Cancel instructions come first, because a cancelled task may have been sent to the same worker again. */
  #takeCancels(): Instruction[] {
    const cancels = Array.from(
      this.#cancelled,
      ([worker, ids]): Instruction => ({ type: 'cancel', worker, ids: new Int32Array(ids) }),
    );
    this.#cancelled.clear();
    return cancels;
  }

  #cancel(ids: readonly number[]): void {
    for (const id of ids) {
      const erred = cancelTask(this.state, id);
      if (erred !== null) this.#instructions.push(erred);
    }
  }

  #unwant(ids: readonly number[]): void {
    const { state } = this;
    for (const id of ids) {
      state.graph.requested[id] = 0;
      // Only a client that requested a result can read its error.
      if (state.needs[id]! <= 0 || state.state[id] === ERRED) state.discard(id);
    }
  }

  #addWorker(event: WorkerAdded): WorkerState {
    const { state } = this;
    const worker = newWorker(event, state.graph.size, state, state.graph.order);
    state.workers.set(worker.index, worker);
    state.workerList = [...state.workers.values()];
    for (const id of [...state.parked]) {
      if (!state.mayRun(id, worker)) continue;
      state.parked.delete(id);
      state.enqueue(id);
    }
    return worker;
  }

  #removeWorker({ worker: index, blame, restarted = false }: WorkerRemoved): void {
    const { state } = this;
    const worker = state.workers.get(index);
    if (worker === undefined) return;
    const suspects = suspectsOf(state, worker, blame);
    const losses = forgetWorker(state, index, restarted);
    if (restarted) {
      const { name, resources, paused, full, leaving, storeCopies, unusedCopies } = worker;
      const reborn = this.#addWorker({ type: 'worker-added', worker: index, name, resources });
      Object.assign(reborn, { paused, full, leaving, storeCopies, unusedCopies });
    }
    const killed: number[] = [];
    for (const id of suspects) {
      const deaths = Math.min(MAX_COUNT, state.deaths[id]! + 1);
      state.deaths[id] = deaths;
      if (deaths < this.#allowedFailures) continue;
      this.#instructions.push({ type: 'task-killed', worker: index, id, attempts: deaths });
      if (!this.#lasting) return;
      killed.push(id);
    }
    rebuild(state);
    for (const id of killed) this.#fail(id, false);
    this.#failAll(losses.failing);
  }

  #recover(losses: Losses): void {
    if (!losses.found) return;
    rebuild(this.state);
    this.#failAll(losses.failing);
  }

  #failAll(failing: readonly Failing[]): void {
    for (const { id, lost, because } of failing) this.#fail(id, lost, because);
  }

  #taskErred({ worker, id, batch, final = false }: TaskErred): void {
    const { state } = this;
    const isFinished =
      batch === undefined && state.location[id] === worker && (state.held.has(id) || state.isPrivate(id));
    if (!isFinished && !isAt(state, worker, id, batch)) return;
    const at = state.workers.get(worker);
    if (at !== undefined) at.since = state.now;
    // A result that its isolate cannot send is an error, and a retry would give the same error.
    if (isFinished || final || state.retried[id]! >= Math.min(MAX_COUNT, state.graph.segmentOf(id).retries)) {
      this.#fail(id, false);
    } else {
      state.retried[id]!++;
      takeBack(state, worker, id);
    }
  }

  #fail(id: number, lost: boolean, because = id): void {
    const at = this.state.state[id]!;
    if (at === ERRED || at === FORGOTTEN) return;
    if (because === id) this.state.failed.add(id);
    this.#instructions.push({ type: 'erred', ids: failTask(this.state, id), lost, because });
  }

  #fetched({ worker, ids, stored, missing }: ResultsFetched): void {
    const { state } = this;
    const sizes = new Map(stored?.map(({ id, nbytes }) => [id, nbytes]));
    for (const id of ids) {
      const nbytes = sizes.get(id);
      if (nbytes !== undefined) state.nbytes[id] = nbytes;
      if (state.isPrivate(id) || state.held.has(id))
        state.fetched(id, nbytes === undefined ? CALLER : worker);
      else noteCopy(state, worker, id, nbytes !== undefined);
    }
    this.#recover(forgetResults(state, worker, missing));
  }

  #takeBack(index: number, ids: readonly number[]): void {
    const worker = this.state.workers.get(index);
    if (worker === undefined) return;
    worker.stealState = ids.length > 0 ? 'idle' : 'empty';
    for (const id of ids) {
      takeBack(this.state, index, id);
      // These tasks may only run on this worker, so wait for a report before the next attempt.
      if (worker.placed.size > 0 && worker.placed.has(id)) worker.stealState = 'empty';
    }
  }

  #fetch(): void {
    const { fetches, location } = this.state;
    if (fetches.length === 0) return;
    const byHolder = new Map<number, number[]>();
    for (const id of fetches) pushTo(byHolder, location[id]!, id);
    this.state.fetches = [];
    for (const [worker, fetched] of byHolder)
      this.#instructions.push({ type: 'fetch', worker, ids: new Int32Array(fetched) });
  }

  /** Sends work to every worker that has room for it. Then workers without work take over waiting tasks or steal. */
  #fill(eager: boolean): void {
    const { state } = this;
    let rounds = this.#limits.maxBatches;
    if (this.#limits.concurrentTasks > 1)
      for (const worker of state.workerList) rounds = Math.max(rounds, mostBatches(worker, this.#limits));
    for (let round = 0; round < rounds; round++)
      for (const worker of state.workerList) if (worker.batches.length <= round) this.#send(worker);
    for (const worker of state.workerList) {
      const ids = worker.paused ? chooseRecall(state, worker) : null;
      if (ids === null) continue;
      worker.stealState = 'requested';
      this.#instructions.push({ type: 'steal', worker: worker.index, ids });
    }
    if (state.workers.size < 2) return;
    // Without placements all idle workers are alike: if one gets no task, the next one gets none either.
    const differ = state.storedCount > 0 || state.restricted;
    for (const worker of state.workerList) {
      if (worker.batches.length > 0 || worker.paused) continue;
      const id = differ ? takeOver(state, worker) : undefined;
      if (id !== undefined) {
        state.place(id, worker);
        this.#send(worker);
        continue;
      }
      const steal = chooseSteal(state, worker, this.#limits, eager);
      if (steal !== null) {
        steal.worker.stealState = 'requested';
        const { worker: victim, ids } = steal;
        this.#instructions.push({ type: 'steal', worker: victim.index, ids, thief: worker.index });
      } else if (!differ) break;
    }
  }

  #send(worker: WorkerState): void {
    const batch = buildBatch(this.state, worker, this.#limits, this.#nextBatch);
    if (batch === null) return;
    this.#nextBatch++;
    this.#instructions.push(
      this.#bare ? bareDispatch(worker, batch) : describeBatch(this.state, worker, batch),
    );
  }
}
