// Sums over a whole run beside rows of its last part: what part of them those rows stand for.
import { oncePer } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';

/**
 * The share of all seconds of computing that the rows of tasks hold: 1, unless a live trace let rows go. Totals times this are
 * to be compared with what is found from rows, e.g. the makespan. Found once per trace. Cost: a walk over the tasks.
 */
export const keptShare = oncePer((trace: Trace): number => (trace.evicted.tasks > 0 ? findShare(trace) : 1));

function findShare({ tasks, totals }: Trace): number {
  const all = totals.actions.find(({ action }) => action === 'compute')?.seconds ?? 0;
  let kept = 0;
  for (let row = 0; row < tasks.length; row++) kept += tasks.duration[row]! || 0;
  return all > kept ? kept / all : 1;
}
