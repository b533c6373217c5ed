// Relates sums over a whole run to the rows that a live trace still has.
import { oncePer } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';

/**
 * Returns the share of all computed seconds that the rows of tasks contain: 1, unless a live trace has evicted rows.
 * Totals are multiplied by it before a comparison with values from rows, e.g. the makespan. Computed once per trace, in
 * a walk over the tasks.
 */
export const keptShare = oncePer((trace: Trace): number => (trace.evicted.tasks > 0 ? findShare(trace) : 1));

function findShare({ tasks, totals }: Trace): number {
  const all = totals.actions.find(({ action }) => action === 'compute')?.seconds ?? 0;
  let kept = 0;
  for (let row = 0; row < tasks.length; row++) kept += tasks.duration[row]! || 0;
  return all > kept ? kept / all : 1;
}
