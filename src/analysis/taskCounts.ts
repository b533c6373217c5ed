// Counts tasks. The totals of a trace count runs; a task that failed and was repeated, or whose result was lost, has several.
import { oncePer } from '../base/lookUps.js';
import type { PrefixTotals } from '../trace/totals.js';
import type { Trace } from '../trace/trace.js';
import { countsByPrefix, skippedRows, skippedTasks } from './skippedTasks.js';
import { previousRuns, repeatedRuns } from './submissionTimes.js';
import { deadRows } from './taskErrors.js';

/** Returns the rows of runs after which the same task ran again. Computed once per trace. */
export const earlierRuns = oncePer(
  (trace: Trace): ReadonlySet<number> => new Set(previousRuns(trace).filter((row) => row >= 0)),
);

/**
 * Returns the number of tasks, also of those that were cancelled or skipped before they had a worker. Tasks with evicted rows
 * count each of their runs.
 */
export function taskCount(trace: Trace): number {
  const runs = trace.totals.states.reduce((sum, count) => sum + count, 0);
  const { cancelled, others } = skippedTasks(trace);
  // The totals of a live run arrive less often than its rows.
  return Math.max(trace.tasks.length, runs) - earlierRuns(trace).size + cancelled + others;
}

interface TaskCounts {
  /** Runs, without those of tasks that did not run because another task failed. */
  readonly runs: number;
  readonly tasks: number;
  /** Tasks that failed and did not run again, as `failedTaskCount` counts them. */
  readonly failed: number;
}

/** Returns a function that counts the tasks of a prefix. */
export function taskCounts(trace: Trace): (totals: PrefixTotals) => TaskCounts {
  const rows = skippedRows(trace);
  const skipped = countsByPrefix(trace, rows);
  const others = countsByPrefix(trace, new Set([...rows, ...earlierRuns(trace)]));
  const repeated = countsByPrefix(
    trace,
    repeatedRuns(trace).filter((row) => row >= 0),
  );
  const dead = countsByPrefix(trace, deadRows(trace));
  return ({ prefix, count, erred }) => {
    return {
      runs: count - (skipped.get(prefix) ?? 0),
      tasks: count - (others.get(prefix) ?? 0),
      failed: erred - (repeated.get(prefix) ?? 0) + (dead.get(prefix) ?? 0),
    };
  };
}
