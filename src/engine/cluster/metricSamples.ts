// Converts a worker's metrics to rows for observers.
import type { MetricSample } from '../../protocol/clusterObserver.js';
import type { MetricChanges } from '../../protocol/metrics.js';

/**
 * Returns one row per metric. A key consists of the context, then span and prefix if the metric belongs to tasks, then
 * activity and unit.
 */
export function* metricSamples(
  { keys, values }: MetricChanges,
  worker: number,
  time: number,
): Generator<MetricSample> {
  for (const [index, key] of keys.entries()) {
    const [context = '', ...rest] = key;
    const [span = '', prefix = ''] = rest.length > 2 ? rest : [];
    const [activity = '', unit = ''] = rest.slice(-2);
    yield { worker, time, context, span, prefix, activity, unit, value: values[index]! };
  }
}
