// Histograms of task durations for prom-client, with counts from the engine.

import {
  Histogram,
  type HistogramConfiguration,
  type MetricObjectWithValues,
  type MetricValueWithName,
} from 'prom-client';
import { getOrMake } from '../../base/lookUps.js';
import { DURATION_BOUNDS, durationHistogram, type LiveTotals } from '../../trace/totals.js';
import { busiestOf } from './family.js';
import type { ClusterFigures } from './figures.js';

export const DURATIONS: HistogramConfiguration<string> = {
  name: 'longpole_task_duration_seconds',
  help: 'How long tasks ran, by prefix',
  labelNames: ['task_prefix_name'],
  registers: [],
};

/** Histograms with given counts. Observing each task with prom-client would take a microsecond per task. */
export class DurationHistograms extends Histogram {
  /** Empty histogram of prom-client, for everything but the values. */
  readonly #empty = new Histogram(DURATIONS);
  readonly #figures: () => ClusterFigures;

  constructor(figures: () => ClusterFigures) {
    super(DURATIONS);
    this.#figures = figures;
  }

  /** Returns the values when the registry writes text. The method is missing in the types of prom-client. */
  getForPromString(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    return this.get();
  }

  override async get(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    const values = [...mergeDurations(this.#figures().totals)].flatMap(([prefix, { seconds, durations }]) => {
      const runs = durationHistogram(durations);
      const count = runs.reduce((sum, each) => sum + each, 0);
      if (count === 0) return [];
      const labels = { task_prefix_name: prefix };
      let below = 0;
      const rows = DURATION_BOUNDS.map((bound, index) => {
        below += runs[index] ?? 0;
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
        { metricName: `${DURATIONS.name}_sum`, labels, value: seconds },
        { metricName: `${DURATIONS.name}_count`, labels, value: count },
      ];
    });
    return { ...(await this.#empty.get()), values };
  }
}

/** Returns one histogram per label. The histograms of prefixes that share a label are added up. */
function mergeDurations(totals: LiveTotals): Map<string, { seconds: number; durations: Float64Array }> {
  const merged = new Map<string, { seconds: number; durations: Float64Array }>();
  for (const [{ seconds, durations }, label] of busiestOf(totals)) {
    const known = getOrMake(merged, label, () => ({
      seconds: 0,
      durations: new Float64Array(durations.length),
    }));
    known.seconds += seconds;
    for (let bucket = 0; bucket < durations.length; bucket++) known.durations[bucket]! += durations[bucket]!;
  }
  return merged;
}
