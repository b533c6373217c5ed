import { addTo, oncePer, sumOf } from '../../base/lookUps.js';
import { IMPORT_CONTEXT } from '../../protocol/metrics.js';
import type { Trace } from '../../trace/trace.js';

/**
 * Returns the seconds of one activity of tasks from the fine performance metrics, in total and by prefix. If a live
 * trace has dropped rows, the sums are scaled to the tasks that it still holds.
 */
export function metricSeconds(
  trace: Trace,
  activity: string,
): { readonly total: number; readonly byPrefix: ReadonlyMap<string, number> } {
  const byPrefix = new Map<string, number>();
  const kept = keptShare(trace);
  let total = 0;
  for (const metric of trace.totals.metrics) {
    if (metric.context !== 'execute' && metric.context !== IMPORT_CONTEXT) continue;
    if (metric.activity !== activity || metric.unit !== 'seconds') continue;
    const seconds = metric.value * kept;
    total += seconds;
    addTo(byPrefix, metric.prefix, seconds);
  }
  return { total, byPrefix };
}

/**
 * Returns the share of all computed seconds that the rows of tasks contain: 1, unless a live trace has evicted rows.
 * Totals are multiplied by it before a comparison with values from rows, e.g. the makespan. Computed once per trace, in
 * a walk over the tasks.
 */
export const keptShare = oncePer((trace: Trace): number => (trace.evicted.tasks > 0 ? findShare(trace) : 1));

function findShare({ tasks, totals }: Trace): number {
  const all = totals.actions.find(({ action }) => action === 'compute')?.seconds ?? 0;
  const kept = sumOf(tasks.duration, (seconds) => seconds || 0);
  return all > kept ? kept / all : 1;
}
