import type { Adjacency } from './adjacency.js';

/**
 * Returns the ids along one cycle. Each task depends on the next one, and the last on the first, which has the
 * smallest id. Null if there is no cycle. Linear in tasks and edges.
 */
export function findCycle(size: number, dependencies: Adjacency): Int32Array | null {
  const users = usersInOrBelowCycles(size, dependencies);
  const start = users.findIndex((count) => count > 0);
  if (start < 0) return null;
  const { offsets, targets } = dependencies;
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

/** Counts the dependents of each task after removing, from the top, tasks on which no cycle depends. */
function usersInOrBelowCycles(size: number, { offsets, targets }: Adjacency): Int32Array {
  const users = new Int32Array(size);
  const queue = new Int32Array(size);
  let tail = 0;
  for (let edge = 0; edge < offsets[size]!; edge++) users[targets[edge]!]!++;
  for (let task = 0; task < size; task++) if (users[task] === 0) queue[tail++] = task;
  for (let head = 0; head < tail; head++) {
    const task = queue[head]!;
    for (let edge = offsets[task]!, end = offsets[task + 1]!; edge < end; edge++) {
      const dependency = targets[edge]!;
      if (--users[dependency]! === 0) queue[tail++] = dependency;
    }
  }
  return users;
}
