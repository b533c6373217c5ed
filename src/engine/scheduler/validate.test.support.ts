// Derives every counter anew from the states and compares, like Dask's validate_state.
import { internalError, type LongpoleError } from '../../base/errors.js';
import { countNeeds } from './recovery.js';
import { type SchedulerState, SEVERAL } from './schedulerState.js';
import {
  ERRED,
  FORGOTTEN,
  isSettled,
  MEMORY,
  PROCESSING,
  QUEUED,
  STATE_NAMES,
  WAITING,
} from './taskStates.js';
import type { SentBatch, WorkerState } from './workerState.js';

/**
 * Checks all invariants.
 * @throws LongpoleError ERR_LONGPOLE_INTERNAL with the task's story
 */
export function validateState(state: SchedulerState): void {
  const { graph } = state;
  const counts = new Int32Array(STATE_NAMES.length);
  for (let id = 0; id < graph.size; id++) {
    if (!graph.isImport(id)) counts[state.state[id]!]!++;
    validateTask(state, id);
  }
  for (const [index, count] of counts.entries()) {
    if (state.counts[index] === count) continue;
    throw broken(
      state,
      -1,
      `${count} tasks are ${STATE_NAMES[index]}, but the count says ${state.counts[index]}`,
    );
  }
  for (const worker of state.workers.values()) {
    for (const id of worker.seceded)
      if (state.state[id] !== PROCESSING || state.location[id] !== worker.index || state.held.has(id))
        throw broken(state, id, `has seceded at worker ${worker.index} and is not there`);
    const left = worker.batches.reduce((sum, batch) => sum + batch.left, 0);
    if (left !== worker.outstanding)
      throw broken(state, -1, `worker ${worker.index} has ${left} tasks, not ${worker.outstanding}`);
    if (worker.placedWork.count !== worker.placed.size)
      throw broken(state, -1, `worker ${worker.index} has ${worker.placed.size} tasks placed`);
    for (const batch of worker.batches) {
      const unfinished = batch.ids.filter((id) => isInBatch(state, id, worker, batch)).length;
      if (unfinished !== batch.left)
        throw broken(state, -1, `batch ${batch.number} has ${unfinished} tasks, not ${batch.left}`);
    }
  }
  validateSegments(state);
}

function isInBatch(state: SchedulerState, id: number, worker: WorkerState, batch: SentBatch): boolean {
  return (
    state.state[id] === PROCESSING &&
    state.location[id] === worker.index &&
    state.batchOf[id] === batch.number &&
    !state.held.has(id)
  );
}

function validateSegments(state: SchedulerState): void {
  let stored = 0;
  for (const segment of state.graph.segments) {
    let alive = 0;
    let unfinished = 0;
    for (let id = segment.base; id < segment.base + segment.size; id++) {
      if (state.state[id] !== FORGOTTEN) alive++;
      if (!isSettled(state.state[id]!)) unfinished++;
      if (state.stored[id] !== 0) stored++;
    }
    if (alive !== segment.alive || unfinished !== segment.unfinished)
      throw broken(
        state,
        -1,
        `segment ${segment.number} has ${alive} living and ${unfinished} unfinished tasks, not ${segment.alive} and ${segment.unfinished}`,
      );
  }
  if (stored !== state.storedCount)
    throw broken(state, -1, `${stored} results are stored, not ${state.storedCount}`);
}

function validateTask(state: SchedulerState, id: number): void {
  const at = state.state[id]!;
  if (at === FORGOTTEN && state.graph.requested[id] === 1)
    throw broken(state, id, 'a requested result was released');
  if (at === MEMORY && state.needs[id] !== countNeeds(state, id))
    throw broken(state, id, `is needed by ${countNeeds(state, id)}, not ${state.needs[id]}`);
  if (at === ERRED || at === MEMORY || at === FORGOTTEN || state.graph.isImport(id)) return;
  const edges = countDependencies(state, id);
  if (at !== PROCESSING && state.waiting[id] !== edges.waiting + edges.awaited)
    throw broken(state, id, `waits for ${edges.waiting + edges.awaited}, not ${state.waiting[id]}`);
  if (state.unassigned[id] !== edges.unassigned)
    throw broken(state, id, `has ${edges.unassigned} unassigned dependencies, not ${state.unassigned[id]}`);
  if (edges.forgotten > 0) throw broken(state, id, 'needs a released result');
  if (at === QUEUED && state.waiting[id] !== 0) throw broken(state, id, 'is queued but waits');
  if (at === WAITING && state.waiting[id] === 0) throw broken(state, id, 'waits for nothing');
  validateQueues(state, id);
}

function validateQueues(state: SchedulerState, id: number): void {
  const at = state.state[id]!;
  let queues = (state.queued.has(id) ? 1 : 0) + (state.parked.has(id) ? 1 : 0);
  for (const worker of state.workers.values()) {
    if (worker.placed.has(id)) queues++;
    if (!worker.followers.has(id)) continue;
    if (at !== WAITING || state.unassigned[id] !== 0) throw broken(state, id, 'follows but could not run');
    if (state.affinity[id] === SEVERAL) throw broken(state, id, 'follows several workers');
  }
  if (queues !== (at === QUEUED ? 1 : 0)) throw broken(state, id, `is in ${queues} queues`);
}

interface EdgeCounts {
  waiting: number;
  unassigned: number;
  forgotten: number;
  awaited: number;
}

function countDependencies(state: SchedulerState, id: number): EdgeCounts {
  const { dependencyOffsets, dependencies } = state.graph;
  const counts: EdgeCounts = { waiting: 0, unassigned: 0, forgotten: 0, awaited: 0 };
  for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++) {
    const dependency = dependencies[edge]!;
    const at = state.state[dependency]!;
    if (at === FORGOTTEN) counts.forgotten++;
    else if (at === MEMORY) counts.awaited += state.awaited.get(dependency)?.includes(id) ? 1 : 0;
    else {
      counts.waiting++;
      if (at !== PROCESSING) counts.unassigned++;
    }
  }
  return counts;
}

function broken(state: SchedulerState, id: number, what: string): LongpoleError {
  const story = id < 0 ? '' : ` Its story: ${JSON.stringify(state.log.story(id))}.`;
  const where = id < 0 ? '' : `Task ${id} (${STATE_NAMES[state.state[id]!]}) `;
  return internalError(`The scheduler's state is inconsistent: ${where}${what}.${story}`);
}
