// The tasks that needed a task's result. They are computed from the dependencies once per trace, at the first call.
import { oncePer } from '../../base/lookUps.js';
import type { Trace } from '../../trace/trace.js';

interface Dependents {
  readonly offsets: Int32Array;
  readonly rows: Int32Array;
}

/** Returns the rows of the runs that needed the result of `row`, in order. */
export function dependentsOf(trace: Trace, row: number): number[] {
  const { offsets, rows } = dependents(trace);
  return [...rows.subarray(offsets[row]!, offsets[row + 1]!)];
}

/** Returns the dependents of all rows: those of row `i` are `rows[offsets[i] .. offsets[i + 1])`. */
export const dependents = oncePer((trace: Trace): Dependents => {
  const { length, dependencyOffsets, dependencyRows } = trace.tasks;
  const offsets = new Int32Array(length + 1);
  for (const producer of dependencyRows) if (producer >= 0) offsets[producer + 1]! += 1;
  for (let i = 0; i < length; i++) offsets[i + 1]! += offsets[i]!;
  const next = offsets.slice(0, length);
  const rows = new Int32Array(offsets[length]!);
  for (let row = 0; row < length; row++) {
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++) {
      const producer = dependencyRows[edge]!;
      if (producer >= 0) rows[next[producer]!++] = row;
    }
  }
  return { offsets, rows };
});
