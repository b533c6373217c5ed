// Which run made what a task needed: from keys to rows.
import type { TaskRows } from './trace.js';

const NONE = -1;

/**
 * For every entry of `tasks.dependencies` the latest row of that key before the row that needs it; where there is none
 * before it, because files of several recorders stand one behind the other, the first behind it. Runs that gave no result
 * do not count. Cost: two walks over rows and edges, 4 bytes for each of `keyCount` keys.
 */
export function latestRows(tasks: TaskRows, keyCount: number): Int32Array {
  const { key, state, dependencies, dependencyOffsets } = tasks;
  const rows = new Int32Array(dependencies.length).fill(NONE);
  const known = new Int32Array(keyCount).fill(NONE);
  let missing = 0;
  for (let row = 0; row < tasks.length; row++) {
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++) {
      rows[edge] = known[dependencies[edge]!]!;
      if (rows[edge] === NONE) missing++;
    }
    if (state[row] === 0) known[key[row]!] = row;
  }
  if (missing === 0) return rows;
  known.fill(NONE);
  for (let row = tasks.length - 1; row >= 0; row--) {
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++) {
      if (rows[edge] === NONE) rows[edge] = known[dependencies[edge]!]!;
    }
    if (state[row] === 0) known[key[row]!] = row;
  }
  return rows;
}
