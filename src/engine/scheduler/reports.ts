// Applies a worker's reports about its tasks to the state: finished, skipped, given back.
import { dependentsOf } from '../../protocol/program.js';
import { isScalar, KIND_PRIVATE, KIND_SKIPPED, KIND_STORED } from '../../protocol/resultKinds.js';
import type { TaskSeceded, TasksFinished } from './events.js';
import { awaitPrivateResults, isPrivateTo } from './privacy.js';
import { noteCopy } from './releases.js';
import { CALLER } from './schedulerColumns.js';
import type { SchedulerState } from './schedulerState.js';
import { PROCESSING } from './taskStates.js';

/**
 * Returns whether the worker has the task and has not finished it.
 *
 * @param batch the batch of the run in question. After a retry, a report of the cancelled run may still be on its way.
 *   Default: any batch
 */
export function isAt(
  { state, location, batchOf, held }: SchedulerState,
  worker: number,
  id: number,
  batch?: number,
): boolean {
  if (state[id] !== PROCESSING || location[id] !== worker) return false;
  if (batch !== undefined && batchOf[id] !== batch && batchOf[id] !== -batch) return false;
  return !(held.size > 0 && held.has(id));
}

/**
 * Moves a task out of its batch, because other tasks run in its slot. The task stays PROCESSING. Dependents no longer
 * follow it, because it does not end in the order of the batches.
 */
export function secedeTask(state: SchedulerState, { worker: index, id, batch }: TaskSeceded): void {
  const worker = state.workers.get(index);
  if (worker === undefined || !isAt(state, index, id, batch)) return;
  state.eraseFromBatch(id);
  state.batchOf[id] = -batch;
  worker.seceded.add(id);
  worker.since = state.now;
  for (const dependent of dependentsOf(state.graph, id)) worker.followers.delete(dependent);
}

/** Takes a task back that its worker has not run. Returns results to fetch for it. */
export function takeBack(
  state: SchedulerState,
  worker: number,
  id: number,
  batch?: number,
): readonly number[] {
  if (!isAt(state, worker, id, batch)) return NO_IDS;
  state.eraseFromBatch(id);
  const fetches = awaitPrivateResults(state, id);
  state.unassign(id);
  return fetches;
}

const NO_IDS: readonly number[] = [];

/** Marks tasks as finished. Returns results to fetch. */
export function finishTasks(state: SchedulerState, event: TasksFinished): readonly number[] {
  const worker = state.workers.get(event.worker);
  if (worker === undefined) return NO_IDS;
  if (worker.stealState === 'empty') worker.stealState = 'idle';
  worker.since = state.now;
  const fetches: number[] = [];
  for (let index = event.from; index < event.to; index++) {
    const id = event.ids[index]!;
    const kind = event.kinds === null ? 0 : event.kinds[index]!;
    const batch = event.batches?.[index];
    if (kind === KIND_SKIPPED) {
      for (const result of takeBack(state, event.worker, id, batch)) fetches.push(result);
    } else if (!isAt(state, event.worker, id, batch)) noteCopy(state, event.worker, id, !isScalar(kind));
    else {
      if (event.seconds !== null) state.learn(id, event.seconds[index]!);
      if (event.nbytes && !isScalar(kind)) state.nbytes[id] = event.nbytes[index]!;
      if (finishTask(state, event.worker, id, kind)) fetches.push(id);
    }
  }
  return fetches;
}

/** Returns whether the result has to be fetched before the task counts as finished. */
function finishTask(state: SchedulerState, worker: number, id: number, kind: number): boolean {
  state.eraseFromBatch(id);
  state.producer[id] = worker;
  if (!isScalar(kind)) state.bulky[id] = 1;
  if (kind === KIND_STORED) {
    state.store(id);
    state.finish(id, worker);
  } else if (kind !== KIND_PRIVATE) {
    state.finish(id, CALLER);
  } else if (isPrivateTo(state, id, worker) && state.graph.requested[id] === 0) {
    state.finish(id, worker);
  } else {
    state.held.add(id);
    return true;
  }
  return false;
}
