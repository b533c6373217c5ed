// The scheduler: a pure state machine. Events in, instructions out; no clock, no timers, no messages. One scheduler
// serves getSync, getThreaded, getMultiprocessing and the cluster; only what carries out its instructions differs.
import { isScalar, KIND_PRIVATE } from '../../protocol/results.js';
import { type BatchLimits, buildBatch, chooseSteal, DEFAULT_LIMITS, describeBatch } from './batching.js';
import type { Dispatch, Instruction, SchedulerEvent, TasksFinished, WorkerRemoved } from './events.js';
import { PriorityBitset } from './priorityBitset.js';
import { forgetResults, forgetWorker, rebuild } from './recovery.js';
import {
  type Batch,
  CALLER,
  type SchedulerGraph,
  SchedulerState,
  type WorkerState,
} from './schedulerState.js';
import { PROCESSING, STATE_NAMES, type Transition } from './taskStates.js';
import { validateState } from './validate.js';

export interface SchedulerOptions {
  /** How often a task may be running when its worker dies before the run fails. Default 3, minimum 1. */
  readonly allowedFailures?: number;
  readonly limits?: Partial<BatchLimits>;
  /** There is one worker and it shares the caller's results: a dispatch says only which tasks. Default false. */
  readonly bare?: boolean;
  /** What is known of durations beforehand; see SchedulerState.expected. */
  readonly expected?: Float64Array;
}

const DEFAULT_ALLOWED_FAILURES = 3;

export class Scheduler {
  readonly state: SchedulerState;
  readonly #limits: BatchLimits;
  readonly #allowedFailures: number;
  readonly #bare: boolean;
  #nextBatch = 1;
  #instructions: Instruction[] = [];

  constructor(graph: SchedulerGraph, options: SchedulerOptions = {}) {
    this.state = new SchedulerState(graph);
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#allowedFailures = options.allowedFailures ?? DEFAULT_ALLOWED_FAILURES;
    this.#bare = options.bare ?? false;
    if (options.expected !== undefined) this.state.expected.set(options.expected);
    rebuild(this.state);
  }

  /** All tasks have finished. */
  get isDone(): boolean {
    return this.state.finishedCount === this.state.graph.size;
  }

  /** Takes one event in and says what to do about it, in this order. */
  handle(event: SchedulerEvent): Instruction[] {
    switch (event.type) {
      case 'worker-added':
        this.#addWorker(event.worker);
        break;
      case 'worker-removed':
        this.#removeWorker(event);
        break;
      case 'tasks-finished':
        this.#finishTasks(event);
        break;
      case 'task-erred':
        this.#eraseFromBatch(event.id);
        this.state.fail(event.id);
        return [];
      case 'tasks-stolen':
        this.#takeBack(event.worker, event.ids);
        break;
      case 'results-fetched':
        for (const id of event.ids) this.state.fetched(id);
        if (forgetResults(this.state, event.worker, event.missing)) this.#rebuild();
        break;
      case 'idle-check':
        for (const worker of this.state.workers.values())
          if (worker.robbed === 'in vain') worker.robbed = 'no';
        this.#fill(true);
        return this.#take();
    }
    this.#fill(false);
    return this.#take();
  }

  /**
   * Takes in that tasks have finished, without sending new work: for a shell that tells observers about one task at a
   * time, with exact states between them. `handle` of any event must follow.
   */
  finishQuietly(event: TasksFinished): void {
    this.#finishTasks(event);
  }

  /** The last transitions of a task, oldest first. */
  story(id: number): Transition[] {
    return this.state.log.story(id);
  }

  stateName(id: number): (typeof STATE_NAMES)[number] {
    return STATE_NAMES[this.state.state[id]!]!;
  }

  /** Derives every counter anew and throws ERR_LONGPOLE_INTERNAL with the task's story if one is wrong. For tests. */
  validate(): void {
    validateState(this.state);
  }

  #take(): Instruction[] {
    this.#emitReleases();
    const instructions = this.#instructions;
    this.#instructions = [];
    return instructions;
  }

  #addWorker(index: number): void {
    this.state.workers.set(index, {
      index,
      batches: [],
      outstanding: 0,
      followers: new PriorityBitset(this.state.graph.size),
      replicas: new Set(),
      quarantined: false,
      robbed: 'no',
    });
  }

  #removeWorker(event: WorkerRemoved): void {
    const worker = this.state.workers.get(event.worker);
    if (worker === undefined) return;
    const suspects = this.#suspects(worker, event.blame);
    forgetWorker(this.state, event.worker);
    for (const id of suspects) {
      const deaths = ++this.state.deaths[id]!;
      if (deaths < this.#allowedFailures) continue;
      this.#instructions.push({ type: 'task-killed', worker: event.worker, id, attempts: deaths });
      return;
    }
    this.#rebuild();
  }

  #rebuild(): void {
    for (const [holder, ids] of rebuild(this.state)) this.#fetch(holder, ids);
  }

  #suspects(worker: WorkerState, blame: WorkerRemoved['blame']): number[] {
    if (blame === 'none') return [];
    const unfinished = worker.batches.flatMap((batch) =>
      Array.from(batch.ids).filter((id) => this.#has(worker, batch, id)),
    );
    return blame === 'unknown' ? unfinished : unfinished.filter((id) => id === blame);
  }

  #has(worker: WorkerState, batch: Batch, id: number): boolean {
    const { state, location, batchOf, held } = this.state;
    return (
      state[id] === PROCESSING &&
      location[id] === worker.index &&
      batchOf[id] === batch.number &&
      !held.has(id)
    );
  }

  #finishTasks(event: TasksFinished): void {
    const { state } = this;
    const worker = state.workers.get(event.worker);
    if (worker === undefined) return;
    if (worker.robbed === 'in vain') worker.robbed = 'no';
    const fetches: number[] = [];
    for (let index = event.from; index < event.to; index++) {
      const id = event.ids[index]!;
      if (state.state[id] !== PROCESSING || state.location[id] !== event.worker) continue;
      if (event.seconds !== null) state.learn(id, event.seconds[index]!);
      this.#eraseFromBatch(id);
      state.producer[id] = event.worker;
      const kind = event.kinds === null ? 0 : event.kinds[index]!;
      if (!isScalar(kind)) state.bulky[id] = 1;
      if (kind !== KIND_PRIVATE) {
        state.finish(id, CALLER);
      } else if (state.isPrivateTo(id, event.worker)) {
        state.finish(id, event.worker);
      } else {
        state.held.add(id);
        fetches.push(id);
      }
    }
    if (fetches.length > 0) this.#fetch(event.worker, fetches);
  }

  #eraseFromBatch(id: number): void {
    const worker = this.state.workers.get(this.state.location[id]!);
    if (worker === undefined) return;
    const number = this.state.batchOf[id]!;
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

  #takeBack(index: number, ids: readonly number[]): void {
    const { state } = this;
    const worker = state.workers.get(index);
    if (worker === undefined) return;
    worker.robbed = ids.length > 0 ? 'no' : 'in vain';
    const fetches: number[] = [];
    for (const id of ids) {
      if (state.state[id] !== PROCESSING || state.location[id] !== index) continue;
      this.#eraseFromBatch(id);
      fetches.push(...state.awaitPrivateResults(id));
      state.unassign(id);
    }
    if (fetches.length > 0) this.#fetch(index, fetches);
  }

  #fetch(worker: number, ids: number[]): void {
    this.#instructions.push({ type: 'fetch', worker, ids: Int32Array.from(ids) });
  }

  /** Sends work to every worker that has room for it, then lets those that have none steal. */
  #fill(eager: boolean): void {
    const { state } = this;
    for (let round = 0, sent = true; sent && round < this.#limits.maxBatches; round++) {
      sent = false;
      for (const worker of state.workers.values()) {
        if (worker.batches.length > round) continue;
        const batch = buildBatch(state, worker, this.#limits, this.#nextBatch);
        if (batch === null) continue;
        this.#nextBatch++;
        this.#instructions.push(
          this.#bare ? bareDispatch(worker, batch) : describeBatch(state, worker, batch),
        );
        sent = true;
      }
    }
    for (const worker of state.workers.values()) {
      if (worker.batches.length > 0 || state.workers.size < 2) continue;
      const steal = chooseSteal(state, this.#limits, eager);
      if (steal === null) break;
      steal.worker.robbed = 'asked';
      this.#instructions.push({ type: 'steal', worker: steal.worker.index, ids: steal.ids });
    }
  }

  #emitReleases(): void {
    const { state } = this;
    if (state.releasedIds.length === 0) return;
    const ids = Int32Array.from(state.releasedIds);
    state.releasedIds = [];
    const workers: { worker: number; ids: Int32Array }[] = [];
    for (const worker of state.workers.values()) {
      const copies: number[] = [];
      for (const id of ids) if (this.#keepsCopy(worker, id)) copies.push(id);
      if (copies.length > 0) workers.push({ worker: worker.index, ids: Int32Array.from(copies) });
    }
    this.#instructions.push({ type: 'release', ids, workers });
  }

  /** A worker drops a result by itself once all its dependents have run there; only other copies need a message. */
  #keepsCopy(worker: WorkerState, id: number): boolean {
    const { state } = this;
    if (worker.replicas.delete(id)) return state.bulky[id] === 1;
    return state.bulky[id] === 1 && state.producer[id] === worker.index && state.location[id] === CALLER;
  }
}

const NO_FLAGS = new Uint8Array(0);
const NO_IDS = new Int32Array(0);

function bareDispatch(worker: WorkerState, batch: Batch): Dispatch {
  return {
    type: 'dispatch',
    worker: worker.index,
    batch: batch.number,
    ids: batch.ids,
    publish: NO_FLAGS,
    keep: NO_IDS,
    inputs: NO_IDS,
  };
}
