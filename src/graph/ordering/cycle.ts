import { type Adjacency, removeFree } from './adjacency.js';

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
