// Histograms of task durations for prom-client, with counts from the engine.

import {
  Histogram,
  type HistogramConfiguration,
  type MetricObjectWithValues,
  type MetricValueWithName,
} from 'prom-client';
import { getOrMake } from '../../base/lookUps.js';
import { busiest } from './family.js';
import type { ClusterFigures, DurationFigures } from './figures.js';

export const DURATIONS: HistogramConfiguration<string> = {
  name: 'longpole_task_duration_seconds',
  help: 'How long tasks ran, by prefix',
  labelNames: ['task_prefix_name'],
  registers: [],
};

/** Histograms with given counts. Observing each task with prom-client would take a microsecond per task. */
export class DurationHistograms extends Histogram {
  /** Empty histogram of prom-client, for everything but the values. */
  readonly #empty: Histogram;
  readonly #figures: () => ClusterFigures;

  constructor(figures: () => ClusterFigures) {
    super(DURATIONS);
    this.#empty = new Histogram(DURATIONS);
    this.#figures = figures;
  }

  /** Returns the values when the registry writes text. The method is missing in the types of prom-client. */
  getForPromString(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    return this.get();
  }

  override async get(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    const { durations, durationBounds } = this.#figures();
    const values = mergeDurations(durations).flatMap(({ prefix, buckets, count, sum }) => {
      const labels = { task_prefix_name: prefix };
      let below = 0;
      const rows = durationBounds.map((bound, index) => {
        below += buckets[index] ?? 0;
        return {
          metricName: `${DURATIONS.name}_bucket`,
          labels: { ...labels, le: bound },
          value: below,
        };
      });
      return [
        ...rows,
        {
          metricName: `${DURATIONS.name}_bucket`,
          labels: { ...labels, le: '+Inf' },
          value: count,
        },
        { metricName: `${DURATIONS.name}_sum`, labels, value: sum },
        { metricName: `${DURATIONS.name}_count`, labels, value: count },
      ];
    });
    return { ...(await this.#empty.get()), values };
  }
}

/** Returns one histogram per label. The histograms of prefixes that share a label are added up. */
function mergeDurations(durations: Iterable<DurationFigures>): DurationFigures[] {
  const merged = new Map<string, { prefix: string; count: number; sum: number; buckets: Float64Array }>();
  for (const [{ count, sum, buckets }, prefix] of busiest(durations, (each) => each.sum)) {
    const empty = () => ({ prefix, count: 0, sum: 0, buckets: new Float64Array(buckets.length) });
    const known = getOrMake(merged, prefix, empty);
    known.count += count;
    known.sum += sum;
    for (let bucket = 0; bucket < buckets.length; bucket++) known.buckets[bucket]! += buckets[bucket]!;
  }
  return [...merged.values()];
}
