// Reads from the samples of a trace how much CPU time child processes of the program used.
import { oncePer } from '../base/lookUps.js';
import { CHILDREN_CPU } from '../protocol/traceNames.js';
import type { Trace } from '../trace/trace.js';

/**
 * Returns the CPU seconds of child processes that tasks, or a program with worker threads, started and that ended; NaN if they are
 * not recorded.
 */
export const childSeconds = oncePer(({ resources }: Trace): number => {
  const { length, worker, time, figures } = resources;
  const children = figures.get(CHILDREN_CPU);
  if (children === undefined) return Number.NaN;
  const rows: number[] = [];
  for (let row = 0; row < length; row++) if (worker[row] === -1 && children[row]! >= 0) rows.push(row);
  if (rows.length === 0) return Number.NaN;
  rows.sort((a, b) => time[a]! - time[b]!);
  let seconds = 0;
  // The sum decreases when a worker process ends.
  for (let at = 1; at < rows.length; at++)
    seconds += Math.max(0, children[rows[at]!]! - children[rows[at - 1]!]!);
  return seconds;
});
