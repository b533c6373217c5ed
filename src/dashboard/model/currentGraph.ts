// The current graph of a live run: the tasks that have rows, and those that have not ended. Tasks are in the order of
// their ids, so that the drawing stays as it is while their states change.
import { TASK_STATES } from '../../protocol/clusterObserver.js';
import type { OpenGraph, OpenState, OpenTask } from '../../protocol/openGraph.js';
import { type Trace, textOf } from '../../trace/trace.js';
import { ACTIVITY_SLOTS } from './palette.js';

export type GraphState = OpenState | (typeof TASK_STATES)[number];

export interface GraphTask extends Pick<OpenTask, 'id' | 'key' | 'prefix'> {
  readonly state: GraphState;
  /** Row of the latest run; undefined for a task that has not ended. */
  readonly row: number | undefined;
  readonly dependencies: ArrayLike<number>;
}

/** Names of states and the slots of their colours, which follow Dask's graph page. */
export const GRAPH_STATES: readonly {
  readonly state: GraphState;
  readonly name: string;
  readonly slot: number;
}[] = [
  { state: 'waiting', name: 'waiting', slot: ACTIVITY_SLOTS.serialize },
  { state: 'queued', name: 'queued', slot: 2 },
  { state: 'processing', name: 'processing', slot: 5 },
  { state: 'memory', name: 'in memory or released', slot: 6 },
  { state: 'erred', name: 'erred', slot: ACTIVITY_SLOTS.erred },
  { state: 'cancelled', name: 'cancelled', slot: ACTIVITY_SLOTS.gc },
  { state: 'lost', name: 'lost', slot: 8 },
];

/** Returns the tasks of the rows and of `open`, ascending by id. */
export function currentGraph(
  { tasks, strings }: Trace,
  rows: readonly number[],
  open: OpenGraph,
): GraphTask[] {
  const found = new Map<number, GraphTask>();
  for (const row of rows) {
    const id = tasks.id[row]!;
    found.set(id, {
      id,
      key: tasks.keyOf(row),
      prefix: textOf(strings, tasks.prefix[row]),
      state: TASK_STATES[tasks.state[row]!] ?? 'memory',
      row,
      dependencies: tasks.dependencyIds.subarray(
        tasks.dependencyOffsets[row]!,
        tasks.dependencyOffsets[row + 1]!,
      ),
    });
  }
  for (const task of open.tasks) {
    // A task may have ended since the server's answer. A failed or lost run may be followed by another one.
    const known = found.get(task.id);
    if (known === undefined || (known.state !== 'memory' && task.state === 'processing'))
      found.set(task.id, { ...task, row: known?.row });
  }
  return [...found.values()].sort((a, b) => a.id - b.id);
}

/** Returns edges as indices into `tasks`: the needed task, then the task that needs it. */
export function graphEdges(tasks: readonly Pick<GraphTask, 'id' | 'dependencies'>[]): [number, number][] {
  const places = new Map(tasks.map(({ id }, place) => [id, place]));
  return tasks.flatMap(({ dependencies }, to) =>
    Array.from(dependencies, (id) => places.get(id)).flatMap((from): [number, number][] =>
      from === undefined ? [] : [[from, to]],
    ),
  );
}
