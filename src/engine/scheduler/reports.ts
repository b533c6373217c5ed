// Applies a worker's reports about its tasks to the state: finished, skipped, given back.
import { dependentsOf } from '../../protocol/program.js';
import { isScalar, KIND_PRIVATE, KIND_SKIPPED, KIND_STORED } from '../../protocol/resultKinds.js';
import type { TaskSeceded, TasksFinished } from './events.js';
import { isJoinedAt, isPrivateTo, soleDependent } from './privacy.js';
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

/** Takes a task back that its worker has not run. */
export function takeBack(state: SchedulerState, worker: number, id: number, batch?: number): void {
  if (!isAt(state, worker, id, batch)) return;
  state.eraseFromBatch(id);
  state.awaitPrivateResults(id);
  state.unassign(id);
}

/** Marks tasks as finished. */
export function finishTasks(state: SchedulerState, event: TasksFinished): void {
  const worker = state.workers.get(event.worker);
  if (worker === undefined) return;
  if (worker.stealState === 'empty') worker.stealState = 'idle';
  worker.since = state.now;
  for (let index = event.from; index < event.to; index++) {
    const id = event.ids[index]!;
    const kind = event.kinds === null ? 0 : event.kinds[index]!;
    const batch = event.batches?.[index];
    if (kind === KIND_SKIPPED) takeBack(state, event.worker, id, batch);
    else if (!isAt(state, event.worker, id, batch)) noteCopy(state, event.worker, id, !isScalar(kind));
    else {
      if (event.seconds !== null) state.learn(id, event.seconds[index]!);
      if (event.nbytes && !isScalar(kind)) state.nbytes[id] = event.nbytes[index]!;
      finishTask(state, event.worker, id, kind);
    }
  }
}

function finishTask(state: SchedulerState, worker: number, id: number, kind: number): void {
  state.eraseFromBatch(id);
  state.producer[id] = worker;
  if (!isScalar(kind)) state.bulky[id] = 1;
  if (kind === KIND_STORED) {
    state.store(id);
    state.finish(id, worker);
  } else if (kind !== KIND_PRIVATE) {
    state.finish(id, CALLER);
  } else if (state.graph.requested[id] === 0 && isPrivateTo(state, id, worker)) {
    state.finish(id, worker);
  } else if (state.graph.requested[id] === 0 && isJoinedAt(state, id, worker)) {
    state.homes?.set(soleDependent(state, id), worker);
    state.finish(id, worker);
  } else {
    // The task counts as finished once the result is fetched.
    state.held.add(id);
    state.fetches.push(id);
  }
}
