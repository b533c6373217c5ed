// The strategy for graphs whose tasks share dependencies: the next goal frees the held result with the fewest remaining
// dependents. The strategy proceeds level by level over a wide stencil, and row by row through a matrix product.
import { type Adjacency, degree } from './adjacency.js';
import { MinBuckets } from './minBuckets.js';
import type { Visit } from './needs.js';
import type { SimulatedRun } from './simulatedRun.js';

/** Most dependents of one result that are compared, so that a step takes constant time. */
const LOOK_AHEAD = 16;
/** Number of results with the same urgency, latest first, whose dependents are compared. */
const PEERS = 4;

/** Places all remaining tasks of `run`. */
export function urgentFirst(run: SimulatedRun, visit: Visit, dependents: Adjacency): void {
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
