// Analyses a graph before its tasks are ordered: finds a topological order, and the number of results that each task
// and its dependencies hold at once. These numbers determine the best order of the dependencies of a task. Linear in
// tasks and edges, except for sorting dependencies with different needs.
import { type Adjacency, degree, removeFree } from './adjacency.js';

/** Returns the tasks, dependencies first. The result is shorter than `size` if tasks are on a cycle or depend on one. */
export function topologicalOrder(size: number, dependencies: Adjacency, dependents: Adjacency): Int32Array {
  const missing = new Int32Array(size);
  for (let task = 0; task < size; task++) missing[task] = degree(dependencies, task);
  return removeFree(missing, dependents);
}

/** The dependencies of every task, and the tasks without dependents, in the order of computation. */
export interface Visit {
  readonly dependencies: Adjacency;
  readonly roots: Int32Array;
  /** True if no task has more than one dependent. */
  readonly forest: boolean;
  /** Lower bound of the number of results held at once, for any order. */
  readonly lowerBound: number;
}

/**
 * Numbers tasks like Sethi and Ullman number expression trees, for any number of children. A subtree holds at most `need`
 * results at once and leaves `residue` results behind. Subtrees with a larger difference of the two come first. For trees
 * the resulting postorder is optimal. If tasks share dependencies, the numbers are estimates, because each task counts
 * the shared dependencies.
 */
export function planVisit(
  topological: Int32Array,
  dependencies: Adjacency,
  dependents: Adjacency,
  requested: Uint8Array,
): Visit {
  const size = topological.length;
  const residues = residuesOf(topological, dependencies, dependents, requested);
  const spare = new Int32Array(size);
  const targets = dependencies.targets.slice();
  const { offsets } = dependencies;
  let widest = 0;
  for (let position = 0; position < size; position++) {
    const task = topological[position]!;
    const start = offsets[task]!;
    const end = offsets[task + 1]!;
    sortBySpare(targets, start, end, spare);
    let held = 0;
    let need = 0;
    for (let edge = start; edge < end; edge++) {
      const dependency = targets[edge]!;
      const residue = residues === null ? 1 : residues[dependency]!;
      need = Math.max(need, held + spare[dependency]! + residue);
      held += residue;
    }
    widest = Math.max(widest, end - start + 1);
    spare[task] = Math.min(MANY, Math.max(need, held + 1)) - (residues === null ? 1 : residues[task]!);
  }
  return { dependencies: { offsets, targets }, ...rootsAndBound(dependents, requested, spare, widest) };
}

/** Upper limit of estimates, so that sums with shared dependencies, which count several times, stay integers. */
const MANY = 2 ** 30;

/**
 * Counts the results that stay held after a task has run: its own, and the requested ones below it. Null if the count
 * is 1 for all, because no requested result has dependents.
 */
function residuesOf(
  topological: Int32Array,
  dependencies: Adjacency,
  dependents: Adjacency,
  requested: Uint8Array,
): Int32Array | null {
  let inner = false;
  for (let task = 0; task < requested.length; task++) {
    inner ||= requested[task] === 1 && degree(dependents, task) > 0;
  }
  if (!inner) return null;
  const residues = new Int32Array(topological.length);
  for (const task of topological) {
    let residue = 1;
    for (let edge = dependencies.offsets[task]!; edge < dependencies.offsets[task + 1]!; edge++) {
      const dependency = dependencies.targets[edge]!;
      residue += residues[dependency]! - (requested[dependency] === 1 ? 0 : 1);
    }
    residues[task] = Math.min(MANY, residue);
  }
  return residues;
}

function rootsAndBound(dependents: Adjacency, requested: Uint8Array, spare: Int32Array, widest: number) {
  const size = spare.length;
  let kept = 0;
  let count = 0;
  let forest = true;
  for (let task = 0; task < size; task++) {
    const users = degree(dependents, task);
    if (users === 0) count++;
    if (users > 1) forest = false;
    if (users === 0 || requested[task] === 1) kept++;
  }
  const roots = new Int32Array(count);
  for (let task = 0, next = 0; task < size; task++) {
    if (degree(dependents, task) === 0) roots[next++] = task;
  }
  sortBySpare(roots, 0, count, spare);
  return { roots, forest, lowerBound: Math.max(widest, kept) };
}

/** Sorts tasks by falling `spare`; the sort is stable. */
function sortBySpare(tasks: Int32Array, start: number, end: number, spare: Int32Array): void {
  let sorted = true;
  for (let index = start + 1; index < end && sorted; index++) {
    sorted = spare[tasks[index - 1]!]! >= spare[tasks[index]!]!;
  }
  if (sorted) return;
  if (end - start > 24) {
    sortManyBySpare(tasks, start, end, spare);
    return;
  }
  for (let index = start + 1; index < end; index++) {
    const task = tasks[index]!;
    const key = spare[task]!;
    let hole = index;
    for (; hole > start && spare[tasks[hole - 1]!]! < key; hole--) tasks[hole] = tasks[hole - 1]!;
    tasks[hole] = task;
  }
}

/** Sorts many tasks by the native sort of numbers: key and position share one double, exact up to 2 ** 53. */
function sortManyBySpare(tasks: Int32Array, start: number, end: number, spare: Int32Array): void {
  const before = tasks.slice(start, end);
  const count = before.length;
  const packed = new Float64Array(count);
  let most = 0;
  for (const task of before) most = Math.max(most, spare[task]!);
  for (let index = 0; index < count; index++) packed[index] = (most - spare[before[index]!]!) * count + index;
  packed.sort();
  for (let index = 0; index < count; index++) tasks[start + index] = before[packed[index]! % count]!;
}
