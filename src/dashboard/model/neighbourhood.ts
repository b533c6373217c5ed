// The tasks nearest to one: what it needs and what needs it, breadth first.
import type { Trace } from '../../trace/trace.js';
import { dependents } from './dependents.js';

/** At most `most` rows, in the order of rows; with room left, others fill it. */
export function neighbourhood(trace: Trace, centre: number, most: number): number[] {
  const { tasks } = trace;
  if (tasks.length <= most) return Array.from({ length: tasks.length }, (_, row) => row);
  const { offsets, rows } = dependents(trace);
  const found = new Set([centre]);
  for (const row of found) {
    if (found.size >= most) break;
    const near = [
      ...tasks.dependencyRows.subarray(tasks.dependencyOffsets[row]!, tasks.dependencyOffsets[row + 1]!),
      ...rows.subarray(offsets[row]!, offsets[row + 1]!),
    ];
    for (const one of near) if (one >= 0 && found.size < most) found.add(one);
  }
  return [...found].sort((a, b) => a - b);
}
