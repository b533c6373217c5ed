// The progress of the prefixes of a recorded run, for the bars of the page Status.

import { countsOf } from '../../base/lookUps.js';
import { TASK_CANCELLED, TASK_LOST } from '../../protocol/clusterObserver.js';
import { type Trace, textOf } from '../../trace/trace.js';

/** Returns the runs of each prefix by their end. `cancelled` runs, also those lost with their worker, gave no result. */
export function recordedProgress({ tasks, strings, totals }: Trace) {
  const isWithout = (state: number): boolean => state === TASK_CANCELLED || state === TASK_LOST;
  const hasWithout = totals.states.some((count, state) => count > 0 && isWithout(state));
  const rows = hasWithout ? Array.from(tasks.state.keys()).filter((row) => isWithout(tasks.state[row]!)) : [];
  const without = countsOf(rows.map((row) => textOf(strings, tasks.prefix[row])));
  return Array.from(totals.prefixes.values(), ({ prefix, count, erred, seconds }) => {
    const cancelled = without.get(prefix) ?? 0;
    const finished = count - erred - cancelled;
    return { prefix, total: count, finished, erred, cancelled, processing: 0, seconds };
  });
}
