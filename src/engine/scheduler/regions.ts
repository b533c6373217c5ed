// Sends tasks whose results are joined to one worker, so that few results are transferred.
import { nextOf } from '../../graph/joinedTasks.js';
import type { SchedulerState } from './schedulerState.js';
import type { WorkerState } from './workerState.js';

/**
 * Returns the task of the common queue that the worker should run next; -1 if there is none. A task that frees a result comes
 * first.
 */
export function nextRoot(state: SchedulerState, worker: WorkerState): number {
  const { queued, graph, workerList } = state;
  const first = queued.min();
  if (first < 0 || workerList.length < 2 || !queued.isPlain || freesResult(state, first)) return first;
  const { base, size } = graph.segmentOf(first);
  return nextOf(graph, queued, first, base + size, workerList, worker);
}

function freesResult({ graph, needs }: SchedulerState, id: number): boolean {
  const { dependencyOffsets, dependencies, requested } = graph;
  for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++)
    if (needs[dependencies[edge]!] === 1 && requested[dependencies[edge]!] === 0) return true;
  return false;
}
