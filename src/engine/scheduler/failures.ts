// Handles a failed task and its dependents. Releases dependencies that only they needed.
import { dependenciesOf, dependentsOf } from '../../protocol/program.js';
import type { Erred, WorkerRemoved } from './events.js';
import { isAt } from './reports.js';
import type { SchedulerState } from './schedulerState.js';
import { ERRED, FORGOTTEN, isSettled, MEMORY, PROCESSING } from './taskStates.js';
import type { WorkerState } from './workerState.js';

/** Marks the task and all its dependents without a result as erred. Returns them, the task first. */
export function failTask(state: SchedulerState, first: number): Int32Array {
  const { graph } = state;
  const erred: number[] = [];
  // A finished task whose isolate cannot send its result does not need its inputs any more.
  const needsNothing = state.state[first] === MEMORY;
  const stack = [first];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    const at = state.state[id]!;
    // An import in memory has no use without its original, which a client has cancelled.
    const isImported = at === MEMORY && graph.isImport(id);
    if (id !== first && isSettled(at) && !isImported) continue;
    // Its worker has already finished a held task, so there is nothing to cancel.
    if (!state.held.delete(id)) {
      if (at === PROCESSING && id === first) state.eraseFromBatch(id);
      else state.takeOut(id);
    }
    state.awaited.delete(id);
    state.transition(id, ERRED);
    erred.push(id);
    for (const dependent of dependentsOf(graph, id)) stack.push(dependent);
    for (const copy of graph.importersOf(id)) stack.push(copy);
    graph.segmentOf(id).irregular = true;
  }
  for (const id of erred) {
    state.needs[id] = 0;
    if (id !== first || !needsNothing) unneedInputs(state, id);
  }
  // A requested result keeps its error. The others have no client that would read the error.
  for (const id of erred) if (graph.requested[id] === 0 && state.state[id] === ERRED) state.discard(id);
  return Int32Array.from(erred);
}

/** Cancels the task and fails its dependents; null if it has none. */
export function cancelTask(state: SchedulerState, id: number): Erred | null {
  const at = state.state[id]!;
  if (at === ERRED || at === FORGOTTEN || state.needs[id]! <= 0) return null;
  giveUp(state, id);
  return { type: 'erred', ids: failTask(state, id), lost: false, because: id, cancelled: true };
}

/** Returns whether the task is unfinished and has to fail. Asks its worker, if any, not to run it. */
export function giveUp(state: SchedulerState, id: number): boolean {
  const at = state.state[id]!;
  if (isSettled(at)) return false;
  if (at === PROCESSING && !state.held.has(id)) state.onTakenOut?.(id, state.location[id]!);
  return true;
}

/** Returns the tasks that may have ended their worker. */
export function suspectsOf(
  state: SchedulerState,
  worker: WorkerState,
  blame: WorkerRemoved['blame'],
): number[] {
  if (blame === 'none') return [];
  const unfinished = worker.batches.flatMap(({ ids, number }) =>
    Array.from(ids).filter((id) => isAt(state, worker.index, id) && state.batchOf[id] === number),
  );
  const inSlots = blame === 'unknown' ? unfinished : unfinished.filter((id) => id === blame);
  return [...worker.seceded, ...inSlots];
}

/** Returns the only task that may have ended the worker, if nothing is known of its tasks. */
export function onlySuspect(state: SchedulerState, worker: number): number | undefined {
  const found = state.workers.get(worker);
  const suspects = found === undefined ? [] : suspectsOf(state, found, 'unknown');
  return suspects.length === 1 ? suspects[0] : undefined;
}

function unneedInputs(state: SchedulerState, id: number): void {
  for (const dependency of dependenciesOf(state.graph, id)) {
    if (state.state[dependency] === ERRED) continue;
    if (--state.needs[dependency]! === 0 && state.graph.requested[dependency] === 0)
      state.discard(dependency);
  }
}
