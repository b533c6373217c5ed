// Converts the edges of a recorded trace from a list by task id to lists by row. Ids are dense numbers of 4 bytes, and
// only the result is kept. Ten million edges as they are in the file would use a gigabyte.
import { countedOffsets, groupedRows } from '../../base/groups.js';
import { TASK_MEMORY } from '../../protocol/clusterObserver.js';

/** Values of row `i`: `values[offsets[i] .. offsets[i + 1])`. */
interface RowLists<T> {
  readonly offsets: Int32Array;
  readonly values: T;
}

/** Groups edges by task: the edges of task `n` are `order[starts[n] .. starts[n + 1])`. Tasks are dense numbers. */
export class EdgesByTask {
  readonly starts: Int32Array;
  /** Positions in the list; undefined if the list is sorted by task. */
  readonly #order: Int32Array | undefined;

  /** `task` has the task of each edge, `count` is the number of tasks. */
  constructor(task: Int32Array, count: number) {
    this.starts = countedOffsets(task, count);
    let sortedTo = 0;
    for (let last = 0; sortedTo < task.length && task[sortedTo]! >= last; sortedTo++) last = task[sortedTo]!;
    this.#order = sortedTo === task.length ? undefined : groupedRows(task, this.starts);
  }

  /** Returns the position in the list of the `i`-th edge by task. */
  edge(i: number): number {
    return this.#order === undefined ? i : this.#order[i]!;
  }

  /** Returns the cumulated number of edges by row. `task` has the dense number of each row's task. */
  offsets(task: Int32Array): Int32Array {
    const { starts } = this;
    const offsets = new Int32Array(task.length + 1);
    for (let row = 0; row < task.length; row++) {
      const at = task[row]!;
      offsets[row + 1] = offsets[row]! + (at < 0 ? 0 : starts[at + 1]! - starts[at]!);
    }
    return offsets;
  }
}

/**
 * Returns `TaskRows.dependencyRows`. Runs without a result are ignored. `task` has the dense number of each row's task.
 */
export function rowsOfDependencies(
  edges: EdgesByTask,
  dependency: Int32Array,
  task: Int32Array,
  state: Uint8Array,
): RowLists<Int32Array> {
  const { starts } = edges;
  const offsets = edges.offsets(task);
  const values = new Int32Array(offsets[task.length]!);
  const made = new Int32Array(starts.length - 1).fill(-1);
  for (let row = 0, to = 0; row < task.length; row++) {
    const at = task[row]!;
    if (at < 0) continue;
    for (let i = starts[at]!; i < starts[at + 1]!; i++) {
      const needed = dependency[edges.edge(i)]!;
      values[to++] = needed < 0 ? -1 : made[needed]!;
    }
    if (state[row] === TASK_MEMORY) made[at] = row;
  }
  return { offsets, values };
}

export function idsOfDependencies(
  edges: EdgesByTask,
  dependency: Float64Array,
  task: Int32Array,
): Float64Array {
  const { starts } = edges;
  const values = new Float64Array(edges.offsets(task)[task.length]!);
  for (let row = 0, to = 0; row < task.length; row++) {
    const at = task[row]!;
    if (at < 0) continue;
    for (let i = starts[at]!; i < starts[at + 1]!; i++) values[to++] = dependency[edges.edge(i)]!;
  }
  return values;
}
