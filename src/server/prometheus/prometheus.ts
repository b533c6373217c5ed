// Makes the text that Prometheus scrapes at `/metrics`. Metrics that Dask exports have Dask's names
// (`dask_scheduler_…`, `dask_worker_…`), so that dashboards made for Dask work. Other names begin with `longpole_`.
import { Counter, Gauge, Registry } from 'prom-client';
import { LONGEST_NAME, shortened } from '../../base/visibleText.js';
import { FAMILIES } from './allFamilies.js';
import type { Family, Labels } from './family.js';
import type { ClusterFigures } from './figures.js';
import { DurationHistograms } from './histograms.js';

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

  /** Value of the Content-Type header. */
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
          if (!Number.isNaN(value)) metric.inc(shortLabels(values), isCounter ? Math.max(0, value) : value);
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
