// The tasks that needed a task's result. They are computed from the dependencies once per trace, at the first call.
import { reversedEdges } from '../../base/groups.js';
import { oncePer } from '../../base/lookUps.js';
import type { Trace } from '../../trace/trace.js';

/** Returns the rows of the runs that needed the result of `row`, in order. */
export function dependentsOf(trace: Trace, row: number): number[] {
  const { offsets, sources } = dependents(trace);
  return [...sources.subarray(offsets[row]!, offsets[row + 1]!)];
}

/** Returns the dependents of all rows: those of row `i` are `sources[offsets[i] .. offsets[i + 1])`. */
export const dependents = oncePer(({ tasks }: Trace) =>
  reversedEdges(tasks.dependencyOffsets, tasks.dependencyRows),
);
