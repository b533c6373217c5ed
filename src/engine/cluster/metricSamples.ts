// Converts a worker's metrics to rows for observers.
import type { MetricSample } from '../../protocol/clusterObserver.js';
import type { MetricChanges } from '../../protocol/metrics.js';

/** Returns one row per metric. A key is a context, the names of span and prefix if the metric has them, and two more. */
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
