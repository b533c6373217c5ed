// Graphs for the scheduler's tests, the functions of their tasks, and reports of their ends.
import { reversedEdges } from '../../base/groups.js';
import type { TasksFinished } from './events.js';
import type { SchedulerGraph } from './taskGraph.js';

/** Dependencies by task. Ids ascend along dependencies, like ranks. */
export type Edges = readonly (readonly number[])[];

export function toGraph(edges: Edges, requested: readonly number[]): SchedulerGraph {
  const offsets = new Int32Array(edges.length + 1);
  for (const [id, list] of edges.entries()) offsets[id + 1] = offsets[id]! + list.length;
  const dependencies = { offsets, targets: Int32Array.from(edges.flat()) };
  const dependents = reversedEdges(dependencies.offsets, dependencies.targets);
  const flags = new Uint8Array(edges.length);
  for (const id of requested) flags[id] = 1;
  return {
    size: edges.length,
    dependencyOffsets: offsets,
    dependencies: dependencies.targets,
    dependentOffsets: dependents.offsets,
    dependents: dependents.targets,
    requested: flags,
    functionOf: Int32Array.from(edges, (_list, id) => id % 3),
    functionCount: 3,
  };
}

/** Tasks without dependents must be requested, because a compiled graph contains no unneeded tasks. */
export function requestedOf(edges: Edges, extra: readonly number[]): number[] {
  const used = new Set(edges.flat());
  const sinks = [...edges.keys()].filter((id) => !used.has(id));
  return [...new Set(sinks.concat(extra.map((raw) => raw % edges.length)))];
}

/** Returns the result of a task for its inputs, in their order. */
export function resultOf(id: number, inputs: readonly number[]): number {
  return inputs.reduce((sum, input, index) => (sum * 31 + input * (index + 1)) % 1_000_003, id + 1);
}

/** Returns the report that a worker has finished a task. */
export function finished(worker: number, id: number, kind: number, seconds: number): TasksFinished {
  return {
    type: 'tasks-finished',
    worker,
    ids: Int32Array.of(id),
    from: 0,
    to: 1,
    kinds: Uint8Array.of(kind),
    seconds: Float64Array.of(seconds),
  };
}
