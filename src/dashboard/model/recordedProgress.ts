// The progress of the prefixes of a recorded run, for the bars of the page Status.
import { countsByPrefix } from '../../analysis/skippedTasks.js';
import { earlierRuns, taskCounts } from '../../analysis/taskCounts.js';
import { failedRows } from '../../analysis/taskErrors.js';
import { TASK_CANCELLED, TASK_LOST } from '../../protocol/clusterObserver.js';
import type { Trace } from '../../trace/trace.js';

/**
 * Returns the tasks of each prefix by the end of their last run. `cancelled` runs, also those lost with their worker, gave no
 * result.
 */
export function recordedProgress(trace: Trace) {
  const { tasks, totals } = trace;
  const isWithout = (state: number): boolean => state === TASK_CANCELLED || state === TASK_LOST;
  const hasWithout = totals.states.some((count, state) => count > 0 && isWithout(state));
  const [earlier, failed] = [earlierRuns(trace), failedRows(trace)];
  const rows = hasWithout ? Array.from(tasks.state.keys()).filter((row) => isWithout(tasks.state[row]!)) : [];
  const without = countsByPrefix(
    trace,
    rows.filter((row) => !earlier.has(row) && !failed.has(row)),
  );
  const repeated = countsByPrefix(trace, earlier);
  const countsOf = taskCounts(trace);
  return Array.from(totals.prefixes.values(), (row) => {
    const { prefix, seconds } = row;
    const { failed: erred } = countsOf(row);
    const total = row.count - (repeated.get(prefix) ?? 0);
    const cancelled = without.get(prefix) ?? 0;
    return { prefix, total, finished: total - erred - cancelled, erred, cancelled, processing: 0, seconds };
  });
}
