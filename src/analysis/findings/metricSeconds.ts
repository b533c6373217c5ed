import { IMPORT_CONTEXT } from '../../protocol/metrics.js';
import type { Trace } from '../../trace/trace.js';
import { keptShare } from '../keptShare.js';

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
    byPrefix.set(metric.prefix, (byPrefix.get(metric.prefix) ?? 0) + seconds);
  }
  return { total, byPrefix };
}
