// Decides which results may stay in the isolate that computed them. They are fetched if another worker needs them later.
import { MOST_JOINED } from '../../graph/joinedTasks.js';
import type { SchedulerState } from './schedulerState.js';
import { isSettled, PROCESSING, WAITING } from './taskStates.js';
import type { WorkerState } from './workerState.js';

/** A result stays private only if its dependents are expected to take at most this time. */
const PRIVATE_SECONDS = 20e-3;
/** A result stays private until it is joined only if its task and the joining one are expected to take at most this time. */
const JOINED_SECONDS = 100e-3;

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
    if (!isShort(state, dependents[edge]!, PRIVATE_SECONDS)) return false;
  }
  return true;
}

/**
 * Returns whether only the task `next` uses this result. If it runs directly behind the result's task in the same isolate,
 * no other worker needs the result, however long the two take. Returns false if `next` may run again after it has exceeded
 * its time limit and has ended the isolate, because the whole chain before it would run again, too.
 */
export function isOnlyFor(state: SchedulerState, id: number, next: number | undefined): boolean {
  const { importers } = state.graph;
  if (next === undefined || soleDependent(state, id) !== next) return false;
  if (importers.size > 0 && importers.has(id)) return false;
  const { limited, retries } = state.graph.segmentOf(next);
  return !limited || retries === 0;
}

/** Returns the task that alone uses this result; -1 if there are several or none. */
export function soleDependent({ graph }: SchedulerState, id: number): number {
  const first = graph.dependentOffsets[id]!;
  return graph.dependentOffsets[id + 1]! - first === 1 ? graph.dependents[first]! : -1;
}

/**
 * Returns whether a task of a local run waits for this result and for others, of which no other worker has or computes
 * any. False if the task has run before: its inputs are sent again then, because the isolate may have dropped them.
 */
export function isJoinedAt(state: SchedulerState, id: number, worker: number): boolean {
  if (state.homes === null) return false;
  const join = soleDependent(state, id);
  if (join < 0 || state.state[join] !== WAITING || state.rerun[join] === 1) return false;
  if (state.affinity[join] !== worker) return false;
  return (state.homes.get(join) ?? worker) === worker;
}

/**
 * Returns whether a result may stay with its worker until a task joins it with others: that task is expected to run there as
 * well, and both are short, because another worker that needs the result after all waits until the isolate can send it.
 */
export function mayAwaitJoin(state: SchedulerState, id: number, worker: WorkerState): boolean {
  if (!isJoinedAt(state, id, worker.index)) return false;
  const join = soleDependent(state, id);
  const { begin, end } = worker.region;
  if (state.workerList.length > 1 && (id < begin || join > end)) return false;
  const { dependencyOffsets } = state.graph;
  if (dependencyOffsets[join + 1]! - dependencyOffsets[join]! > MOST_JOINED) return false;
  if (state.graph.segmentOf(join).limited) return false;
  return isShort(state, id, JOINED_SECONDS) && isShort(state, join, JOINED_SECONDS);
}

function isShort(state: SchedulerState, id: number, most: number): boolean {
  const seconds = state.expectedSeconds(id);
  return seconds > 0 && seconds <= most;
}
