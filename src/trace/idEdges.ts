// Edges between tasks that are named by id, as Longpole's own sources have them: from ids to rows and to keys.
import { TASK_MEMORY } from '../protocol/clusterObserver.js';

/** Where the ids of tasks come from: those of one computation follow each other. */
export interface IdRange {
  readonly firstId: number;
  readonly size: number;
}

/** Ids as dense numbers: a place in an array for every task of the ranges, which ascend by `firstId`. */
export class DenseIds {
  readonly #firstIds: Float64Array;
  readonly #ends: Float64Array;
  /** Where the numbers of each range begin. */
  readonly #bases: Float64Array;
  readonly length: number;
  #latest = 0;

  constructor(ranges: readonly IdRange[]) {
    this.#firstIds = Float64Array.from(ranges, ({ firstId }) => firstId);
    this.#ends = Float64Array.from(ranges, ({ firstId, size }) => firstId + size);
    this.#bases = new Float64Array(ranges.length);
    let length = 0;
    for (const [i, { size }] of ranges.entries()) {
      this.#bases[i] = length;
      length += size;
    }
    this.length = length;
  }

  /** The range that an id belongs to, or -1. Cost: next to nothing where ids of one range follow each other. */
  rangeOf(id: number): number {
    const latest = this.#latest;
    if (id >= this.#firstIds[latest]! && id < this.#ends[latest]!) return latest;
    let low = 0;
    let high = this.#firstIds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#ends[middle]! <= id) low = middle + 1;
      else high = middle;
    }
    if (low === this.#firstIds.length || id < this.#firstIds[low]!) return -1;
    this.#latest = low;
    return low;
  }

  /** -1 for an id that no range has. */
  of(id: number): number {
    const range = this.rangeOf(id);
    return range < 0 ? -1 : this.#bases[range]! + id - this.#firstIds[range]!;
  }
}

export interface IdEdges {
  /** Ids of what row `i` needed: `ids[offsets[i] .. offsets[i + 1])`. */
  readonly offsets: Int32Array;
  readonly ids: Float64Array;
}

/** See `TaskRows.dependencyRows`. Runs that gave no result do not count. */
export function dependencyRowsOf(
  edges: IdEdges,
  rows: { readonly id: Float64Array; readonly state: Uint8Array },
  dense: DenseIds,
): Int32Array {
  const { offsets, ids } = edges;
  const { id, state } = rows;
  const result = new Int32Array(ids.length).fill(-1);
  const known = new Int32Array(dense.length).fill(-1);
  for (let row = 0; row < id.length; row++) {
    for (let edge = offsets[row]!; edge < offsets[row + 1]!; edge++) {
      const at = dense.of(ids[edge]!);
      if (at >= 0) result[edge] = known[at]!;
    }
    const at = dense.of(id[row]!);
    if (at >= 0 && state[row] === TASK_MEMORY) known[at] = row;
  }
  return result;
}
