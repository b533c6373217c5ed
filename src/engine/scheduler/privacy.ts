// Which results may stay in the isolate that made them, and what happens when one is needed elsewhere after all.
import type { SchedulerState } from './schedulerState.js';
import { isSettled, PROCESSING } from './taskStates.js';

/** Results for tasks that are expected to take longer than this are sent out. */
const PRIVATE_SECONDS = 20e-3;

/** Whether every task that needs this result is at the given worker or has run there. */
export function isPrivateTo(state: SchedulerState, id: number, worker: number): boolean {
  const { dependentOffsets, dependents, importers } = state.graph;
  if (importers.size > 0 && importers.has(id)) return false;
  const end = dependentOffsets[id + 1]!;
  for (let edge = dependentOffsets[id]!; edge < end; edge++) {
    const dependent = dependents[edge]!;
    const at = state.state[dependent]!;
    if (at === PROCESSING ? state.location[dependent] !== worker : !isSettled(at)) return false;
  }
  return true;
}

/**
 * Whether a result may stay with its worker: the tasks that need it are sent there, and are known to be so short that
 * nobody will want to take them over. What a long task needs must be within everybody's reach, because its worker
 * cannot hand anything out while a task runs.
 */
export function mayStayPrivate(state: SchedulerState, id: number, worker: number): boolean {
  if (!isPrivateTo(state, id, worker)) return false;
  const { dependentOffsets, dependents } = state.graph;
  const end = dependentOffsets[id + 1]!;
  for (let edge = dependentOffsets[id]!; edge < end; edge++) {
    const seconds = state.expectedSeconds(dependents[edge]!);
    if (seconds === 0 || seconds > PRIVATE_SECONDS) return false;
  }
  return true;
}

/**
 * Makes a task that is with no worker wait for those of its dependencies that only one worker holds. Returns the
 * dependencies that have to be fetched for it and were not yet.
 */
export function awaitPrivateResults(state: SchedulerState, id: number): number[] {
  const fetches: number[] = [];
  const { dependencyOffsets, dependencies } = state.graph;
  for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++) {
    const dependency = dependencies[edge]!;
    if (!state.isPrivate(dependency)) continue;
    state.waiting[id]!++;
    const waiters = state.awaited.get(dependency);
    if (waiters === undefined) {
      state.awaited.set(dependency, [id]);
      fetches.push(dependency);
    } else {
      waiters.push(id);
    }
  }
  return fetches;
}
