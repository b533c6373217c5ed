// Decides which results may stay in the isolate that computed them, and fetches them if another worker needs them
// later.
import type { SchedulerState } from './schedulerState.js';
import { isSettled, PROCESSING } from './taskStates.js';

/** A result stays private only if its dependents are expected to take at most this time. */
const PRIVATE_SECONDS = 20e-3;

/** Returns whether every dependent of this result is at the given worker or has run there. */
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
 * Returns whether a result may stay with its worker: its dependents are sent there, and are so short that stealing
 * them would not pay. Other workers must be able to reach the inputs of a long task, because its worker cannot send
 * anything while a task runs.
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
 * Returns whether only the task `next` uses this result. If it runs directly behind the result's task in the same isolate,
 * no other worker needs the result, however long the two take. Returns false if `next` may run again after it has exceeded
 * its time limit and has ended the isolate, because the whole chain before it would run again, too.
 */
export function isOnlyFor(state: SchedulerState, id: number, next: number | undefined): boolean {
  const { dependentOffsets, dependents, importers } = state.graph;
  const first = dependentOffsets[id]!;
  if (next === undefined || dependentOffsets[id + 1]! - first !== 1 || dependents[first] !== next)
    return false;
  if (importers.size > 0 && importers.has(id)) return false;
  const { limited, retries } = state.graph.segmentOf(next);
  return !limited || retries === 0;
}

/**
 * Makes a task without a worker wait for those of its dependencies that only one worker holds. Returns the
 * dependencies whose fetch has to start.
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
