// Makes the text that Prometheus scrapes at `/metrics`. Metrics that Dask exports have Dask's names
// (`dask_scheduler_…`, `dask_worker_…`), so that dashboards made for Dask work. Other names begin with `longpole_`.
import {
  Counter,
  Gauge,
  Histogram,
  type HistogramConfiguration,
  type MetricObjectWithValues,
  type MetricValueWithName,
  Registry,
} from 'prom-client';
import { getOrMake } from '../../base/lookUps.js';
import { LONGEST_NAME, shortened } from '../../base/visibleText.js';
import { DURATION_BOUNDS, durationHistogram, type LiveTotals } from '../../trace/totals.js';
import { FAMILIES } from './allFamilies.js';
import { busiestOf, type Family, type Labels } from './family.js';
import type { ClusterFigures } from './figures.js';

/** Makes the text of each scrape from figures that are read once per scrape. */
export class PrometheusMetrics {
  readonly #registry = new Registry();
  readonly #source: () => ClusterFigures;
  #figures: ClusterFigures;

  constructor(source: () => ClusterFigures) {
    this.#source = source;
    this.#figures = source();
    for (const family of FAMILIES) this.#add(family);
    this.#registry.registerMetric(new DurationHistograms(() => this.#figures));
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    this.#figures = this.#source();
    return this.#registry.metrics();
  }

  #add({ name, help, labels, read }: Family): void {
    const isCounter = name.endsWith('_total');
    const configuration = {
      name,
      help,
      labelNames: [...labels],
      registers: [this.#registry],
      collect: (): void => {
        metric.reset();
        // A metric without labels is 0 after a reset, also if its value is unknown.
        if (labels.length === 0) metric.remove({});
        for (const [values, value] of read(this.#figures))
          if (Number.isFinite(value)) metric.inc(shortLabels(values), isCounter ? Math.max(0, value) : value);
      },
    };
    const metric: Counter | Gauge = isCounter ? new Counter(configuration) : new Gauge(configuration);
  }
}

/** Shortens long names of workers, activities and spans, because a scrape must stay small. */
function shortLabels(labels: Labels): Labels {
  if (Object.values(labels).every(({ length }) => length <= LONGEST_NAME)) return labels;
  return Object.fromEntries(Object.entries(labels).map(([label, text]) => [label, shortened(text)]));
}

export const DURATIONS: HistogramConfiguration<string> = {
  name: 'longpole_task_duration_seconds',
  help: 'How long tasks ran, by prefix',
  labelNames: ['task_prefix_name'],
  registers: [],
};

/** Histograms with given counts. Observing each task with prom-client would take a microsecond per task. */
class DurationHistograms extends Histogram {
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
      const labels = { task_prefix_name: prefix };
      let count = 0;
      const buckets = [...DURATION_BOUNDS, '+Inf'].map((le, index) => {
        count += runs[index]!;
        return { metricName: `${DURATIONS.name}_bucket`, labels: { ...labels, le }, value: count };
      });
      if (count === 0) return [];
      return [
        ...buckets,
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
