// The progress of the prefixes of a recorded run, for the bars of the page Status.
import { repeatedByPrefix } from '../../analysis/submissionTimes.js';
import { failedByPrefix, failedRows } from '../../analysis/taskErrors.js';
import { countsOf } from '../../base/lookUps.js';
import { TASK_CANCELLED, TASK_LOST } from '../../protocol/clusterObserver.js';
import { type Trace, textOf } from '../../trace/trace.js';

/**
 * Returns the runs of each prefix by their end, without failed runs that another run followed. `cancelled` runs, also those lost
 * with their worker, gave no result. A task of which each run was lost is `erred`.
 */
export function recordedProgress(trace: Trace) {
  const { tasks, strings, totals } = trace;
  const isWithout = (state: number): boolean => state === TASK_CANCELLED || state === TASK_LOST;
  const hasWithout = totals.states.some((count, state) => count > 0 && isWithout(state));
  const failedOnes = failedRows(trace);
  const rows = hasWithout
    ? Array.from(tasks.state.keys()).filter((row) => isWithout(tasks.state[row]!) && !failedOnes.has(row))
    : [];
  const without = countsOf(rows.map((row) => textOf(strings, tasks.prefix[row])));
  const repeated = repeatedByPrefix(trace);
  const failed = failedByPrefix(trace);
  return Array.from(totals.prefixes.values(), ({ prefix, count, seconds }) => {
    const [erred, cancelled] = [failed.get(prefix) ?? 0, without.get(prefix) ?? 0];
    const total = count - (repeated.get(prefix) ?? 0);
    return { prefix, total, finished: total - erred - cancelled, erred, cancelled, processing: 0, seconds };
  });
}
