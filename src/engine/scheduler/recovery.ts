// Recovers from the loss of a worker. Losses are rare, so counters are not patched. Lost tasks return to released, and
// released results that are needed again are resurrected from their lineage. All counters are derived anew from the
// states, in O(tasks + edges).
import { dependenciesOf } from '../../protocol/program.js';
import { CALLER, IN_TRANSIT, NO_WORKER } from './schedulerColumns.js';
import { type SchedulerState, SEVERAL } from './schedulerState.js';
import { ERRED, FORGOTTEN, isSettled, MEMORY, PROCESSING, QUEUED, RELEASED, WAITING } from './taskStates.js';

/** Re-queues every task without a worker after a loss. */
export function rebuild(state: SchedulerState): void {
  state.queued.clear();
  state.parked.clear();
  for (const worker of state.workers.values()) {
    worker.followers.clear();
    for (const id of worker.placed) state.unplace(id, worker);
  }
  // A private result that is on its way is not requested again: its isolate may have dropped it since.
  const requested = new Set(state.awaited.keys());
  for (const id of state.fetches) requested.delete(id);
  state.fetches = state.fetches.filter((id) => state.held.has(id));
  state.awaited.clear();
  state.homes?.clear();
  place(state, 0, state.graph.size);
  state.fetches = state.fetches.filter((id) => !requested.has(id));
}

/** Derives the counters of the tasks `from .. to` and queues those without a worker. */
export function place(state: SchedulerState, from: number, to: number): void {
  for (let id = from; id < to; id++) {
    settleImport(state, id);
    countEdges(state, id);
  }
  for (let id = from; id < to; id++) {
    const at = state.state[id]!;
    if (at !== RELEASED && at !== WAITING && at !== QUEUED) continue;
    state.awaitPrivateResults(id);
    placeTask(state, id);
  }
}

/** A task that has to fail. */
export interface Failing {
  readonly id: number;
  /** Whether it is data that was lost and cannot be computed again. */
  readonly lost: boolean;
  /** The task that failed earlier: the task itself, one on which it depends, or the original of an import. */
  readonly because: number;
}

/** Losses that cannot be undone. */
export interface Losses {
  /** A result was lost, so `rebuild` has to follow. */
  readonly found: boolean;
  /** Lost data, and then tasks that would have to run again, but depend on a task that has failed meanwhile. */
  readonly failing: readonly Failing[];
}

/** Removes a worker and the results that only this worker held from the state. */
export function forgetWorker(state: SchedulerState, index: number, keepsStore: boolean): Losses {
  state.workers.delete(index);
  state.workerList = [...state.workers.values()];
  const lost: number[] = [];
  for (let id = 0; id < state.graph.size; id++) {
    if (state.producer[id] === index) state.producer[id] = NO_WORKER;
    if (state.location[id] !== index) continue;
    const at = state.state[id];
    if (at !== PROCESSING && at !== MEMORY) continue;
    if (at === MEMORY && state.stored[id] !== 0 && (keepsStore || moveToCopy(state, id))) continue;
    lose(state, id, lost);
  }
  return resurrect(state, lost);
}

/**
 * Selects another worker to which the result was sent. If its store lacks the result, the worker reports that on
 * request.
 */
function moveToCopy(state: SchedulerState, id: number): boolean {
  for (const worker of state.workers.values()) {
    if (!worker.storeCopies.has(id)) continue;
    state.location[id] = worker.index;
    state.stored[id] = IN_TRANSIT;
    return true;
  }
  return false;
}

/** Removes results that their worker turned out to lack from the state. */
export function forgetResults(state: SchedulerState, index: number, ids: readonly number[]): Losses {
  const worker = state.workers.get(index);
  const lost: number[] = [];
  for (const id of ids) {
    if (worker !== undefined && state.state[id] !== FORGOTTEN) {
      const replica = worker.replicas.delete(id);
      const storeCopy = worker.storeCopies.delete(id);
      if (replica || storeCopy) worker.unusedCopies.add(id);
    }
    if (state.location[id] !== index) continue;
    if (state.state[id] !== MEMORY && !state.held.has(id)) continue;
    if (state.stored[id] === 0 || !moveToCopy(state, id)) lose(state, id, lost);
  }
  return resurrect(state, lost);
}

/**
 * Marks results as requested by a client, and returns what is lost. Released results have to be computed again. A result
 * that only one isolate has counts as lost, too, because isolates send only results that were requested before the run.
 */
export function requestResults(state: SchedulerState, ids: readonly number[]): Losses {
  const lost: number[] = [];
  for (const id of ids) {
    state.graph.requested[id] = 1;
    if (state.state[id] === FORGOTTEN || state.isPrivate(id)) lose(state, id, lost);
    else if (state.state[id] === MEMORY) state.arrivals?.push({ id, there: true });
  }
  return resurrect(state, lost);
}

function lose(state: SchedulerState, id: number, lost: number[]): void {
  state.held.delete(id);
  startOver(state, id);
  lost.push(id);
}

/** Returns a task to the beginning, without its result. `rebuild` has to follow. */
export function startOver(state: SchedulerState, id: number): void {
  if (state.arrivals !== null && state.graph.requested[id] === 1 && state.state[id] === MEMORY)
    state.arrivals.push({ id, there: false });
  state.unstore(id);
  state.location[id] = CALLER;
  state.rerun[id] = 1;
  if (state.bulky[id] === 1) state.workers.get(state.producer[id]!)?.unusedCopies.add(id);
  state.graph.segmentOf(id).irregular = true;
  state.transition(id, RELEASED);
}

/** Follows the lineage: a task that has to run again needs its dependencies again, including released ones. */
function resurrect(state: SchedulerState, lost: number[]): Losses {
  const { graph } = state;
  const found = lost.length > 0;
  const gone: Failing[] = [];
  const doomed: Failing[] = [];
  for (let id = lost.pop(); id !== undefined; id = lost.pop()) {
    if (graph.segmentOf(id).data) gone.push({ id, lost: true, because: id });
    for (const copy of graph.importersOf(id))
      if (state.state[copy] === MEMORY) state.transition(copy, RELEASED);
    for (const dependency of dependenciesOf(graph, id)) revive(state, dependency, id, lost, doomed);
    if (graph.isImport(id)) revive(state, graph.originOf(id), id, lost, doomed);
  }
  return { found, failing: [...gone, ...doomed] };
}

function revive(
  state: SchedulerState,
  id: number,
  dependent: number,
  lost: number[],
  doomed: Failing[],
): void {
  if (state.state[id] === ERRED) doomed.push({ id: dependent, lost: false, because: id });
  if (state.state[id] !== FORGOTTEN) return;
  startOver(state, id);
  lost.push(id);
}

/** Gives an import the state of its original: it is in memory while the original is. */
function settleImport(state: SchedulerState, id: number): void {
  if (!state.graph.isImport(id) || isSettled(state.state[id]!)) return;
  if (state.state[state.graph.originOf(id)] === MEMORY) state.transition(id, MEMORY);
}

function countEdges(state: SchedulerState, id: number): void {
  const { graph } = state;
  let waiting = 0;
  let unassigned = 0;
  let affinity = -1;
  for (let edge = graph.dependencyOffsets[id]!; edge < graph.dependencyOffsets[id + 1]!; edge++) {
    const dependency = graph.dependencies[edge]!;
    const at = state.state[dependency];
    if (at === MEMORY || at === FORGOTTEN) continue;
    waiting++;
    if (at !== PROCESSING) unassigned++;
    else
      affinity =
        affinity === -1 || affinity === state.location[dependency] ? state.location[dependency]! : SEVERAL;
  }
  if (graph.isImport(id) && !isSettled(state.state[id]!)) {
    waiting = 1;
    unassigned = 1;
  }
  state.waiting[id] = waiting;
  state.unassigned[id] = unassigned;
  state.affinity[id] = affinity;
  state.needs[id] = countNeeds(state, id);
}

/** Counts unfinished dependents, and imports that are not forgotten. */
export function countNeeds(state: SchedulerState, id: number): number {
  const { graph } = state;
  let needs = 0;
  for (let edge = graph.dependentOffsets[id]!; edge < graph.dependentOffsets[id + 1]!; edge++) {
    if (!isSettled(state.state[graph.dependents[edge]!]!)) needs++;
  }
  if (graph.importers.size > 0)
    for (const copy of graph.importersOf(id)) if (state.state[copy] !== FORGOTTEN) needs++;
  return needs;
}

function placeTask(state: SchedulerState, id: number): void {
  const at = state.state[id]!;
  if (state.waiting[id] === 0) {
    if (at !== QUEUED) {
      if (at === WAITING) state.transition(id, RELEASED);
      state.readyAt[id] = state.now;
      state.transition(id, QUEUED);
    }
    state.enqueue(id);
    return;
  }
  if (at === QUEUED) state.transition(id, RELEASED);
  if (at !== WAITING) state.transition(id, WAITING);
  const worker = state.workers.get(state.affinity[id]!);
  if (worker !== undefined && state.unassigned[id] === 0) state.follow(id, worker);
}
