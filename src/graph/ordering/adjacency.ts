/**
 * Edges of a graph over dense task ids in compressed rows: the neighbours of task `v` are
 * `targets[offsets[v]] … targets[offsets[v + 1] - 1]`. `offsets` has one entry more than there are tasks.
 */
export interface Adjacency {
  readonly offsets: Int32Array;
  readonly targets: Int32Array;
}

/**
 * Removes tasks whose count is 0, one after the other; each lowers the counts of its neighbours by 1. Returns the removed
 * tasks in order. Linear in tasks and edges.
 */
export function removeFree(counts: Int32Array, { offsets, targets }: Adjacency): Int32Array {
  const queue = new Int32Array(counts.length);
  let tail = 0;
  for (let task = 0; task < counts.length; task++) if (counts[task] === 0) queue[tail++] = task;
  for (let head = 0; head < tail; head++) {
    const task = queue[head]!;
    for (let edge = offsets[task]!, end = offsets[task + 1]!; edge < end; edge++) {
      const neighbour = targets[edge]!;
      if (--counts[neighbour]! === 0) queue[tail++] = neighbour;
    }
  }
  return tail === counts.length ? queue : queue.slice(0, tail);
}

/** Returns the number of neighbours of `task`. */
export function degree(edges: Adjacency, task: number): number {
  return edges.offsets[task + 1]! - edges.offsets[task]!;
}
