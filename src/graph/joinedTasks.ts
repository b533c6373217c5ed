// Divides the tasks of a common queue among workers so that one worker computes the results that a task joins. The scheduler
// and the simulation of its runs take tasks by this rule.

/** Ids from `begin` to `end` - 1. */
interface Region {
  readonly begin: number;
  readonly end: number;
}

export const NO_REGION: Region = { begin: 0, end: 0 };

/** A worker that takes tasks from the common queue. */
export interface Taker {
  /** The part of the graph from which the worker takes tasks. */
  region: Region;
}

/** The common queue. A smaller id runs earlier. */
interface ReadyTasks {
  readonly size: number;
  /** Returns the first task from `id` on; -1 if there is none. */
  minFrom(id: number): number;
}

interface TaskEdges {
  readonly dependencyOffsets: Int32Array;
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
}

/**
 * Returns the task that the worker should run next. The order of tasks is depth first, so the tasks before one with several
 * dependencies are those that it joins. A worker takes them one after the other, while other workers take tasks behind it. It
 * helps another worker when nothing else is left of the graph.
 *
 * @param first the first task of the queue
 * @param end end of the ids of its graph
 */
export function nextOf(
  graph: TaskEdges,
  ready: ReadyTasks,
  first: number,
  end: number,
  takers: readonly Taker[],
  taker: Taker,
): number {
  const own = ready.minFrom(taker.region.begin);
  if (own >= 0 && own < Math.min(taker.region.end, end)) return own;
  const free = firstFree(ready, first, takers);
  const root = free >= 0 && free < end ? free : first;
  taker.region = regionOf(graph, root, ready.size / (2 * takers.length));
  return root;
}

/** Returns the first queued task from `first` on that is in no region of a worker; -1 if there is none. */
function firstFree(ready: ReadyTasks, first: number, takers: readonly Taker[]): number {
  let root = first;
  // Regions are in any order, so a pass may lead into one that the pass has left behind.
  for (let before = -1; root >= 0 && root !== before; ) {
    before = root;
    for (const { region } of takers)
      if (root >= region.begin && root < region.end) root = ready.minFrom(region.end);
  }
  return root;
}

/** Results that one worker may hold until a task joins them. More of them use the memory of all workers. */
export const MOST_JOINED = 16;

/**
 * Returns the tasks from this one to the last task on the way to the results that joins at most the worker's share of the tasks;
 * at least to the first one that joins several results, unless it joins very many. A task whose result is not joined is in no
 * region, because each region costs time when workers take independent tasks.
 */
function regionOf(graph: TaskEdges, root: number, share: number): Region {
  const { dependencyOffsets, dependentOffsets, dependents } = graph;
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
