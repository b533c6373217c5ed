/**
 * Edges of a graph over dense task ids in compressed rows: the neighbours of task `v` are
 * `targets[offsets[v]] … targets[offsets[v + 1] - 1]`. `offsets` has one entry more than there are tasks.
 */
export interface Adjacency {
  readonly offsets: Int32Array;
  readonly targets: Int32Array;
}

/** Returns the number of neighbours of `task`. */
export function degree(edges: Adjacency, task: number): number {
  return edges.offsets[task + 1]! - edges.offsets[task]!;
}
