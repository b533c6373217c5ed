// Converts edges between task ids, as Longpole records them, to rows and keys.
import { firstWhere } from '../base/lookUps.js';
import { TASK_MEMORY } from '../protocol/clusterObserver.js';

/** Ids of the tasks of one computation, which are consecutive. */
export interface IdRange {
  readonly firstId: number;
  readonly size: number;
}

/**
 * Maps task ids to consecutive indices, so that a plain array can hold a value for every task. The ranges ascend by
 * `firstId`.
 */
export class DenseIds {
  readonly #firstIds: Float64Array;
  readonly #ends: Float64Array;
  /** First index of each range. */
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

  /** Returns the index of the range that contains an id, or -1. Fast for consecutive ids of one range. */
  rangeOf(id: number): number {
    const latest = this.#latest;
    if (id >= this.#firstIds[latest]! && id < this.#ends[latest]!) return latest;
    const range = firstWhere(0, this.#ends.length, (at) => this.#ends[at]! > id);
    if (!(id >= this.#firstIds[range]!)) return -1;
    this.#latest = range;
    return range;
  }

  /** Returns the index of an id, or -1 if no range contains the id. */
  of(id: number): number {
    const range = this.rangeOf(id);
    return range < 0 ? -1 : this.#bases[range]! + id - this.#firstIds[range]!;
  }
}

export interface IdEdges {
  /** Dependencies of row `i`: `ids[offsets[i] .. offsets[i + 1])`. */
  readonly offsets: Int32Array;
  readonly ids: Float64Array;
}

/** Returns `TaskRows.dependencyRows` for edges between ids. Runs without a result are ignored. */
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
