// The idle time of threads while a program had something to compute.
import type { Trace } from '../trace/trace.js';

/**
 * Returns the `idle` seconds of Dask's fine performance metrics: thread time without activity, except time in which no
 * task was unfinished. Exact even if rows were evicted. NaN if the trace has no metrics of tasks or lacks the sum.
 *
 * @source Dask's page Fine Performance Metrics
 */
export function idleThreadSeconds({ totals: { metrics, offered } }: Trace): number {
  const known = metrics.filter(({ context, unit }) => context === 'execute' && unit === 'seconds');
  if (known.length === 0) return Number.NaN;
  return Math.max(0, offered - known.reduce((sum, { value }) => sum + value, 0));
}
