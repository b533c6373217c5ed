// Sends tasks whose results are joined to one worker, so that few results are transferred.
import type { SchedulerState } from './schedulerState.js';
import { NO_REGION, type Region, type WorkerState } from './workerState.js';

/**
 * Returns the task of the common queue that the worker should run next; -1 if there is none. The order of tasks is depth first,
 * so the tasks before one with several dependencies are those that it joins. A worker takes them one after the other, while
 * other workers take tasks behind it. It helps another worker when nothing else is left of the first graph. A task that frees
 * a result comes first.
 */
export function nextRoot(state: SchedulerState, worker: WorkerState): number {
  const { queued, graph } = state;
  const first = queued.min();
  if (first < 0 || state.workerList.length < 2 || !queued.isPlain || freesResult(state, first)) return first;
  const { base, size } = graph.segmentOf(first);
  const own = queued.minFrom(worker.region.begin);
  if (own >= 0 && own < Math.min(worker.region.end, base + size)) return own;
  const free = firstFree(state, first);
  const root = free >= 0 && free < base + size ? free : first;
  worker.region = regionOf(state, root);
  return root;
}

function freesResult({ graph, needs }: SchedulerState, id: number): boolean {
  const { dependencyOffsets, dependencies, requested } = graph;
  for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++)
    if (needs[dependencies[edge]!] === 1 && requested[dependencies[edge]!] === 0) return true;
  return false;
}

/** Returns the first queued task from `first` on that is in no region of a worker; -1 if there is none. */
function firstFree({ queued, workerList }: SchedulerState, first: number): number {
  let root = first;
  // Regions are in any order, so a pass may lead into one that the pass has left behind.
  for (let before = -1; root >= 0 && root !== before; ) {
    before = root;
    for (const { region } of workerList)
      if (root >= region.begin && root < region.end) root = queued.minFrom(region.end);
  }
  return root;
}

/** Results that one worker may hold until a task joins them. More of them use the memory of all workers. */
const MOST_JOINED = 32;

/**
 * Returns the tasks from this one to the last task on the way to the results that joins at most the worker's share of the tasks;
 * at least to the first one that joins several results, unless it joins very many. A task whose result is not joined is in no
 * region, because each region costs time when workers take independent tasks.
 */
function regionOf({ graph, queued, workerList }: SchedulerState, root: number): Region {
  const { dependencyOffsets, dependentOffsets, dependents } = graph;
  const share = queued.size / (2 * workerList.length);
  let end = root;
  for (let id = root; dependentOffsets[id + 1]! - dependentOffsets[id]! === 1; ) {
    id = dependents[dependentOffsets[id]!]!;
    const joined = dependencyOffsets[id + 1]! - dependencyOffsets[id]!;
    if (joined > MOST_JOINED || (end > root && id - root > share)) break;
    if (joined === 1) continue;
    end = id;
  }
  return end === root ? NO_REGION : { begin: root, end };
}
