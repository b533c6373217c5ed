// Decides which workers are notified when a result is not needed any more. A worker's isolate drops most private
// results by itself, once all their dependents have run there. Every other copy needs a message, or it would stay in
// memory.
import type { Release, ResultsEvicted } from './events.js';
import { CALLER, NO_WORKER } from './schedulerColumns.js';
import type { SchedulerState } from './schedulerState.js';
import { FORGOTTEN } from './taskStates.js';
import type { WorkerState } from './workerState.js';

/** Returns the results released since the last call, or null. */
export function takeReleases(state: SchedulerState): Release | null {
  if (state.releasedIds.length === 0) return null;
  // After a loss, a released task may be needed again before the event is handled completely.
  const ids = new Int32Array(state.releasedIds.filter((id) => state.state[id] === FORGOTTEN));
  state.releasedIds = [];
  const workers: { worker: number; ids: Int32Array }[] = [];
  for (const worker of state.workerList) {
    const copies: number[] = [];
    for (const id of ids) if (keepsCopy(state, worker, id)) copies.push(id);
    if (copies.length > 0) workers.push({ worker: worker.index, ids: new Int32Array(copies) });
  }
  if (state.storedCount > 0) for (const id of ids) state.unstore(id);
  return ids.length === 0 ? null : { type: 'release', ids, workers };
}

/** Returns whether the worker must be notified, and forgets its copy. */
function keepsCopy(state: SchedulerState, worker: WorkerState, id: number): boolean {
  const replica =
    worker.replicas.size > 0 && worker.replicas.delete(id) && state.bulky[state.graph.originOf(id)] === 1;
  const storeCopy = worker.storeCopies.size > 0 && worker.storeCopies.delete(id);
  const unusedCopy = worker.unusedCopies.size > 0 && worker.unusedCopies.delete(id);
  if (replica || storeCopy || unusedCopy) return true;
  if (state.stored[id] !== 0 && state.location[id] === worker.index) return true;
  if (state.bulky[id] === 0 || state.producer[id] !== worker.index) return false;
  return (
    state.location[id] === CALLER || state.stored[id] !== 0 || state.graph.segmentOf(id).irregular === true
  );
}

/**
 * Records that the worker has a result that no task relies on, because its task was cancelled or ran elsewhere.
 * `bulky` if its release is worth a message.
 */
export function noteCopy(state: SchedulerState, worker: number, id: number, bulky: boolean): void {
  if (bulky) state.workers.get(worker)?.unusedCopies.add(id);
  if (state.state[id] === FORGOTTEN) state.releasedIds.push(id);
}

/** Records evictions. From now on the results are sent again with tasks that need them there. */
export function evictResults(state: SchedulerState, { worker: index, ids }: ResultsEvicted): void {
  const worker = state.workers.get(index);
  if (worker === undefined) return;
  for (const id of ids) {
    if (state.state[id] === FORGOTTEN || state.isPrivate(id) || state.held.has(id)) continue;
    const produced = state.producer[id] === index;
    if (produced) state.producer[id] = NO_WORKER;
    if (worker.replicas.delete(id) || produced) worker.unusedCopies.add(id);
  }
}
