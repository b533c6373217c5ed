// Removes dead segments from the scheduler's tables, so that the memory of a long-lived cluster depends only on its
// current work. Ids become smaller; their order, which is the order of execution, stays.
import { NO_REGION } from '../../graph/joinedTasks.js';
import type { PriorityQueue } from './priorityQueue.js';
import type { SchedulerState } from './schedulerState.js';
import { FORGOTTEN } from './taskStates.js';

/** Dead tasks below which a compaction does nothing. */
const MIN_DEAD = 4096;

/**
 * Compacts when at least half of the tasks, and at least `least` tasks, are dead. The cost is O(1) per task in the
 * long run. Returns whether ids have changed.
 */
export function compactState(state: SchedulerState, least = MIN_DEAD): boolean {
  const { graph } = state;
  const before = graph.size;
  if (graph.deadSize === 0 || graph.deadSize < least || graph.deadSize * 2 < before) return false;
  const gone = graph.deadSize - deadImports(state);
  state.counts[FORGOTTEN]! -= gone;
  state.swept += gone;
  const { kept, moved } = graph.compact();
  state.move(kept, before, graph.size);
  const rename: Rename = (ids) => Array.from(ids, (id) => moved(id)).filter((id) => id >= 0);
  renameQueue(state, state.queued, rename);
  for (const worker of state.workers.values()) {
    renameQueue(state, worker.followers, rename);
    renameQueue(state, worker.placed, rename);
    worker.region = NO_REGION;
    worker.replicas = new Set(rename(worker.replicas));
    worker.storeCopies = new Set(rename(worker.storeCopies));
    worker.unusedCopies = new Set(rename(worker.unusedCopies));
    const seceded = rename(worker.seceded);
    worker.seceded.clear();
    for (const id of seceded) worker.seceded.add(id);
    for (const batch of worker.batches) batch.ids = batch.ids.map((id) => moved(id));
  }
  state.parked = new Set(rename(state.parked));
  state.held = new Set(rename(state.held));
  state.failed = new Set(rename(state.failed));
  state.awaited = new Map(
    Array.from(state.awaited, ([id, waiters]): [number, number[]] => [moved(id), rename(waiters)]),
  );
  state.log.rename(moved, before);
  state.restricted = graph.segments.some(({ workers, resources }) => workers !== null || resources !== null);
  return true;
}

type Rename = (ids: Iterable<number>) => number[];

function deadImports({ graph }: SchedulerState): number {
  if (graph.importCount === 0) return 0;
  let count = 0;
  for (const { dead, base, size } of graph.segments) {
    if (!dead) continue;
    for (let id = base; id < base + size; id++) if (graph.isImport(id)) count++;
  }
  return count;
}

function renameQueue(state: SchedulerState, queue: PriorityQueue, rename: Rename): void {
  const ids = rename(queue);
  queue.reset(state.graph.size);
  for (const id of ids) queue.add(id, state.priorityOf(id));
}
