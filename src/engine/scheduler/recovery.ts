// What a dead worker took along, and how the rest goes on. Losses are rare, so nothing is patched: what is lost goes
// back to released, results that were released but are needed again are resurrected from their lineage, and all
// counters are derived anew from the states, in O(tasks + edges).
import { CALLER, type SchedulerState, SEVERAL } from './schedulerState.js';
import { FORGOTTEN, MEMORY, PROCESSING, QUEUED, RELEASED, WAITING } from './taskStates.js';

/** Puts every unstarted task in its place: at the beginning, and after a loss. Returns results to fetch, by holder. */
export function rebuild(state: SchedulerState): Map<number, number[]> {
  state.queued.clear();
  for (const worker of state.workers.values()) worker.followers.clear();
  state.awaited.clear();
  const { size } = state.graph;
  for (let id = 0; id < size; id++) {
    if (state.state[id] === QUEUED || state.state[id] === WAITING) state.transition(id, RELEASED);
  }
  for (let id = 0; id < size; id++) countEdges(state, id);
  const fetches = new Map<number, number[]>();
  for (let id = 0; id < size; id++) {
    if (state.state[id] !== RELEASED) continue;
    for (const dependency of state.awaitPrivateResults(id))
      addTo(fetches, state.location[dependency]!, dependency);
    place(state, id);
  }
  return fetches;
}

/** Takes a worker and what only it had out of the state. `rebuild` has to follow. */
export function forgetWorker(state: SchedulerState, worker: number): void {
  state.workers.delete(worker);
  const lost: number[] = [];
  for (let id = 0; id < state.graph.size; id++) {
    if (state.location[id] !== worker) continue;
    const at = state.state[id];
    if (at !== PROCESSING && at !== MEMORY) continue;
    state.held.delete(id);
    state.location[id] = CALLER;
    state.transition(id, RELEASED);
    lost.push(id);
  }
  resurrect(state, lost);
}

/** Takes results that their worker turned out not to have out of the state; false: nobody needs them. `rebuild` has to follow. */
export function forgetResults(state: SchedulerState, worker: number, ids: readonly number[]): boolean {
  const lost: number[] = [];
  for (const id of ids) {
    const isThere = state.location[id] === worker && (state.state[id] === MEMORY || state.held.has(id));
    if (!isThere) continue;
    state.held.delete(id);
    state.location[id] = CALLER;
    state.transition(id, RELEASED);
    lost.push(id);
  }
  resurrect(state, [...lost]);
  return lost.length > 0;
}

/** The lineage: a task that has to run again needs its dependencies again, also those that were released. */
function resurrect(state: SchedulerState, lost: number[]): void {
  const { dependencyOffsets, dependencies } = state.graph;
  for (let id = lost.pop(); id !== undefined; id = lost.pop()) {
    for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++) {
      const dependency = dependencies[edge]!;
      if (state.state[dependency] !== FORGOTTEN) continue;
      state.location[dependency] = CALLER;
      state.transition(dependency, RELEASED);
      lost.push(dependency);
    }
  }
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
  state.waiting[id] = waiting;
  state.unassigned[id] = unassigned;
  state.affinity[id] = affinity;
  let needs = 0;
  for (let edge = graph.dependentOffsets[id]!; edge < graph.dependentOffsets[id + 1]!; edge++) {
    if (!state.isFinished(graph.dependents[edge]!)) needs++;
  }
  state.needs[id] = needs;
}

function place(state: SchedulerState, id: number): void {
  if (state.waiting[id] === 0) {
    state.transition(id, QUEUED);
    state.queued.add(id);
    return;
  }
  state.transition(id, WAITING);
  const affinity = state.affinity[id]!;
  if (state.unassigned[id] === 0 && affinity >= 0) state.workers.get(affinity)?.followers.add(id);
}

function addTo(lists: Map<number, number[]>, key: number, value: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
