// Dask's validate_state: every counter derived anew from the states and compared.
import { LongpoleError } from '../../base/errors.js';
import { type SchedulerState, SEVERAL } from './schedulerState.js';
import { ERRED, FORGOTTEN, MEMORY, PROCESSING, QUEUED, STATE_NAMES, WAITING } from './taskStates.js';

/** @throws LongpoleError ERR_LONGPOLE_INTERNAL with the task's story */
export function validateState(state: SchedulerState): void {
  const counts = new Int32Array(STATE_NAMES.length);
  for (let id = 0; id < state.graph.size; id++) {
    counts[state.state[id]!]!++;
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
    const left = worker.batches.reduce((sum, batch) => sum + batch.left, 0);
    if (left !== worker.outstanding)
      throw broken(state, -1, `worker ${worker.index} has ${left} tasks, not ${worker.outstanding}`);
  }
}

function validateTask(state: SchedulerState, id: number): void {
  const at = state.state[id]!;
  if (at === ERRED || at === MEMORY || at === FORGOTTEN) {
    if (at === FORGOTTEN && state.graph.requested[id] === 1)
      throw broken(state, id, 'a requested result was released');
    return;
  }
  const edges = countDependencies(state, id);
  if (at !== PROCESSING && state.waiting[id] !== edges.waiting + edges.awaited)
    throw broken(state, id, `waits for ${edges.waiting + edges.awaited}, not ${state.waiting[id]}`);
  if (state.unassigned[id] !== edges.unassigned)
    throw broken(state, id, `has ${edges.unassigned} unassigned dependencies, not ${state.unassigned[id]}`);
  if (edges.forgotten > 0) throw broken(state, id, 'needs a released result');
  if ((at === QUEUED) !== state.queued.has(id)) throw broken(state, id, 'is in the queue only half');
  if (at === QUEUED && state.waiting[id] !== 0) throw broken(state, id, 'is queued but waits');
  if (at === WAITING && state.waiting[id] === 0) throw broken(state, id, 'waits for nothing');
  for (const worker of state.workers.values()) {
    if (!worker.followers.has(id)) continue;
    if (at !== WAITING || state.unassigned[id] !== 0) throw broken(state, id, 'follows but could not run');
    if (state.affinity[id] === SEVERAL) throw broken(state, id, 'follows several workers');
  }
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
  const story = id < 0 ? '' : ` Its story: ${JSON.stringify(state.log.story(id))}`;
  const where = id < 0 ? '' : `Task ${id} (${STATE_NAMES[state.state[id]!]}) `;
  return new LongpoleError(
    'ERR_LONGPOLE_INTERNAL',
    `The scheduler's state is inconsistent: ${where}${what}.${story}`,
  );
}
