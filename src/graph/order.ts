// Computes the static order in which the tasks of a graph run. The order is depth first, so that the last result is
// used next and few results are held at once. The code is pure, iterative and in typed arrays. A graph of a million
// tasks costs a few passes over it. The strategies and their reasons: docs/decisions/ordering.md.
import { type Adjacency, degree, removeFree } from './ordering/adjacency.js';
import { MinBuckets } from './ordering/minBuckets.js';
import { planVisit, topologicalOrder, type Visit } from './ordering/needs.js';
import { SimulatedRun } from './ordering/simulatedRun.js';

export type { Adjacency } from './ordering/adjacency.js';

/** Tasks and edges that may be simulated to find a better start. Small graphs try many starts, large ones one. */
const SEARCH_BUDGET = 4096;

/**
 * Returns the run order: `sequence[r]` is the id of the r-th task; dependencies come before dependents. The order is
 * deterministic: ties are broken by the order of dependencies, then by id.
 *
 * @param size number of tasks; ids are 0 to `size - 1`
 * @param dependencies dependencies of each task, each once
 * @param dependents the same edges in the other direction
 * @param requested 1 for each task whose result is kept to the end; results without dependents are kept anyway
 * @returns `size` ids. If the graph has a cycle, only the tasks that do not depend on one; `findCycle` returns the
 * cycle.
 */
export function order(
  size: number,
  dependencies: Adjacency,
  dependents: Adjacency,
  requested: Uint8Array,
): Int32Array {
  // Every `map` and every single task is such a graph.
  if (dependencies.targets.length === 0) return ascending(size);
  const topological = topologicalOrder(size, dependencies, dependents);
  if (topological.length < size) return topological;
  const visit = planVisit(topological, dependencies, dependents, requested);
  if (visit.forest) return postorder(size, visit);
  const newRun = () => new SimulatedRun(visit.dependencies, dependents, requested);
  let best = newRun();
  for (const root of visit.roots) best.complete(root);
  const affordable = Math.floor(SEARCH_BUDGET / (size + dependencies.targets.length));
  const starts = Math.max(1, Math.min(size, affordable));
  for (let start = 0; start < starts && best.peak > visit.lowerBound; start++) {
    const run = newRun();
    if (start > 0) run.complete(topological[Math.floor((start * size) / starts)]!);
    urgentFirst(run, visit, dependents);
    if (run.peak < best.peak) best = run;
  }
  return best.sequence;
}

/** Returns the ids in ascending order. `Int32Array.from` would take ten times as long. */
function ascending(size: number): Int32Array {
  const ids = new Int32Array(size);
  for (let id = 0; id < size; id++) ids[id] = id;
  return ids;
}

/** Fills the order from the back: a postorder is the reverse of the preorder that takes the last child first. */
function postorder(size: number, { dependencies, roots }: Visit): Int32Array {
  const { offsets, targets } = dependencies;
  const sequence = new Int32Array(size);
  const stack = new Int32Array(size);
  stack.set(roots);
  let depth = roots.length;
  for (let position = size - 1; position >= 0; position--) {
    const task = stack[--depth]!;
    sequence[position] = task;
    for (let edge = offsets[task]!, end = offsets[task + 1]!; edge < end; edge++)
      stack[depth++] = targets[edge]!;
  }
  return sequence;
}

/** Most dependents of one result that are compared, so that a step takes constant time. */
const LOOK_AHEAD = 16;
/** Number of results with the same urgency, latest first, whose dependents are compared. */
const PEERS = 4;

/**
 * Places all remaining tasks of `run`. This is the strategy for graphs whose tasks share dependencies: the next goal frees
 * the held result with the fewest remaining dependents. The strategy proceeds level by level over a wide stencil, and row
 * by row through a matrix product.
 */
function urgentFirst(run: SimulatedRun, visit: Visit, dependents: Adjacency): void {
  const { sequence, remaining } = run;
  const size = sequence.length;
  const { offsets, targets } = visit.dependencies;
  let most = 0;
  for (let task = 0; task < size; task++) most = Math.max(most, degree(dependents, task));
  const held = new MinBuckets(size, most);
  const from = dependents.offsets.slice(0, size);
  let seen = 0;
  let root = 0;
  while (run.length < size) {
    for (; seen < run.length; seen++) {
      const task = sequence[seen]!;
      for (let edge = offsets[task]!, end = offsets[task + 1]!; edge < end; edge++) {
        const dependency = targets[edge]!;
        const uses = remaining[dependency]!;
        if (uses > 0) held.set(dependency, uses);
        else held.delete(dependency);
      }
      if (remaining[task]! > 0) held.set(task, remaining[task]!);
    }
    const goal = nearestGoal(run, held, dependents, from);
    if (goal >= 0) run.complete(goal);
    else {
      // No held result has dependents left. Enter the next component at the bottom.
      while (run.isDone(visit.roots[root]!)) root++;
      run.run(firstLeaf(visit.dependencies, visit.roots[root]!));
    }
  }
}

/** Returns the dependent of the most urgent results with the fewest dependencies left to compute, or -1. */
function nearestGoal(run: SimulatedRun, held: MinBuckets, dependents: Adjacency, from: Int32Array): number {
  let goal = -1;
  let fewest = Infinity;
  let result = held.first();
  for (let peers = PEERS; result >= 0 && peers > 0; peers--) {
    const end = dependents.offsets[result + 1]!;
    let edge = from[result]!;
    while (run.isDone(dependents.targets[edge]!)) edge++;
    from[result] = edge;
    for (const limit = Math.min(end, edge + LOOK_AHEAD); edge < limit; edge++) {
      const dependent = dependents.targets[edge]!;
      if (run.isDone(dependent) || run.missing(dependent) >= fewest) continue;
      fewest = run.missing(dependent);
      goal = dependent;
    }
    result = held.after(result);
  }
  return goal;
}

function firstLeaf({ offsets, targets }: Adjacency, root: number): number {
  let task = root;
  while (offsets[task]! < offsets[task + 1]!) task = targets[offsets[task]!]!;
  return task;
}

/**
 * Returns the ids along one cycle. Each task depends on the next one, and the last on the first, which has the
 * smallest id. Null if there is no cycle. Linear in tasks and edges.
 */
export function findCycle(size: number, dependencies: Adjacency): Int32Array | null {
  const { offsets, targets } = dependencies;
  // Dependents of each task, after removing, from the top, tasks on which no cycle depends.
  const users = new Int32Array(size);
  for (let edge = 0; edge < offsets[size]!; edge++) users[targets[edge]!]!++;
  removeFree(users, dependencies);
  const start = users.findIndex((count) => count > 0);
  if (start < 0) return null;
  // Every remaining task has a remaining dependent. A walk along these enters a cycle and stays there.
  const above = new Int32Array(size);
  for (let task = 0; task < size; task++) {
    if (users[task] === 0) continue;
    for (let edge = offsets[task]!; edge < offsets[task + 1]!; edge++) above[targets[edge]!] = task;
  }
  let entry = start;
  for (let step = 0; step < size; step++) entry = above[entry]!;
  let length = 0;
  let first = entry;
  let task = entry;
  do {
    first = Math.min(first, task);
    task = above[task]!;
    length++;
  } while (task !== entry);
  const cycle = new Int32Array(length);
  task = first;
  for (let index = length; index > 0; index--) {
    cycle[index % length] = task;
    task = above[task]!;
  }
  return cycle;
}
