import type { Trace } from '../../trace/trace.js';

/** Seconds of one activity of tasks, from the fine performance metrics: in all, and by prefix. */
export function metricSeconds(
  trace: Trace,
  activity: string,
): { readonly total: number; readonly byPrefix: ReadonlyMap<string, number> } {
  const byPrefix = new Map<string, number>();
  let total = 0;
  for (const metric of trace.totals.metrics) {
    if (metric.context !== 'execute' || metric.activity !== activity || metric.unit !== 'seconds') continue;
    total += metric.value;
    byPrefix.set(metric.prefix, (byPrefix.get(metric.prefix) ?? 0) + metric.value);
  }
  return { total, byPrefix };
}
