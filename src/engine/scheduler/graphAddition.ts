// Adds a graph to a running scheduler.
import { resizedFloat64 } from '../../base/resized.js';
import type { GraphAdded } from './events.js';
import { type Failing, place } from './recovery.js';
import { CALLER } from './schedulerColumns.js';
import type { SchedulerState } from './schedulerState.js';
import type { Segment } from './taskGraph.js';
import { ERRED, MEMORY, RELEASED } from './taskStates.js';

/** Adds a graph behind the others. Returns the tasks that must fail. */
export function addGraph(state: SchedulerState, event: GraphAdded): Failing[] {
  const { graph, policy, imports } = event;
  const segment = state.graph.add(graph, policy, imports);
  makeRoom(state, graph.functionCount);
  state.counts[RELEASED]! += segment.size - (imports?.size ?? 0);
  if (segment.workers !== null || segment.resources !== null) state.restricted = true;
  if (segment.data) return addData(state, segment, event);
  if (imports !== undefined)
    for (const local of imports.keys()) state.needs[state.graph.originOf(segment.base + local)]!++;
  place(state, segment.base, segment.base + segment.size);
  const failed: Failing[] = [];
  for (const [local, given] of imports ?? [])
    if (state.state[given] === ERRED) failed.push({ id: segment.base + local, lost: false, because: given });
  return failed;
}

function makeRoom(state: SchedulerState, functionCount: number): void {
  const { size } = state.graph;
  state.reserve(size);
  state.queued.reserve(size);
  for (const worker of state.workerList) {
    worker.followers.reserve(size);
    worker.placed.reserve(size);
  }
  if (functionCount >= state.expected.length)
    state.expected = resizedFloat64(state.expected, 2 * (functionCount + 1));
}

function addData(state: SchedulerState, segment: Segment, { holders, nbytes }: GraphAdded): Failing[] {
  const lost: Failing[] = [];
  for (let local = 0; local < segment.size; local++) {
    const id = segment.base + local;
    const holder = holders?.[local] ?? CALLER;
    state.bulky[id] = 1;
    state.nbytes[id] = nbytes?.[local] ?? 0;
    if (holder !== CALLER && !state.workers.has(holder)) {
      lost.push({ id, lost: true, because: id });
      continue;
    }
    state.location[id] = holder;
    if (holder !== CALLER) state.store(id);
    state.transition(id, MEMORY);
  }
  return lost;
}
