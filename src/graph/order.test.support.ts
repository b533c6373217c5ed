// Measures the quality of an order.
import { type Adjacency, degree } from './ordering/adjacency.js';

/**
 * Returns the largest number of results held at once when `sequence` runs on one thread. A new result counts before
 * results are freed. A result is freed once its last dependent has run, unless it is requested or has no dependents.
 */
export function peakHeld(
  sequence: Int32Array,
  dependencies: Adjacency,
  dependents: Adjacency,
  requested: Uint8Array,
): number {
  const remaining = new Int32Array(requested.length);
  let held = 0;
  let peak = 0;
  for (let task = 0; task < remaining.length; task++) remaining[task] = degree(dependents, task);
  for (const task of sequence) {
    peak = Math.max(peak, ++held);
    for (let edge = dependencies.offsets[task]!; edge < dependencies.offsets[task + 1]!; edge++) {
      const dependency = dependencies.targets[edge]!;
      if (--remaining[dependency]! === 0 && requested[dependency] !== 1) held--;
    }
  }
  return peak;
}
