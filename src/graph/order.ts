// The static order in which the tasks of a graph run: depth first, so that what was computed last is used next, and
// such that few results are held at once. Everything here is pure, iterative and in typed arrays; a graph of a million
// tasks costs the time of a few passes over it. What is tried and why: docs/decisions/ordering.md.
import type { Adjacency } from './ordering/adjacency.js';
import { planVisit, topologicalOrder, type Visit } from './ordering/needs.js';
import { SimulatedRun } from './ordering/simulatedRun.js';
import { urgentFirst } from './ordering/urgentFirst.js';

export type { Adjacency } from './ordering/adjacency.js';
export { findCycle } from './ordering/cycle.js';

/** Tasks and edges that may be simulated to find a better place to start: small graphs try many, large ones one. */
const SEARCH_BUDGET = 4096;

/**
 * The run order: `sequence[r]` is the id of the task that runs as the r-th; dependencies come before dependents.
 * Deterministic: what the structure leaves open goes by the order of dependencies, then by id.
 *
 * @param size number of tasks; ids are 0 to `size - 1`
 * @param dependencies for each task what it needs, each once
 * @param dependents the same edges seen from the other side
 * @param requested 1 for each task whose result is kept to the end; results without dependents are kept anyway
 * @returns `size` ids. Fewer if the graph has a cycle: then the tasks that do not depend on one, and `findCycle`
 * names one.
 */
export function order(
  size: number,
  dependencies: Adjacency,
  dependents: Adjacency,
  requested: Uint8Array,
): Int32Array {
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

/** Filled from the back: a postorder is the reverse of the preorder that takes the last child first. */
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
