// The cache profiler: when each result was held. With the default metric it is a view over the recordings, like Profiler; a
// metric of one's own is evaluated as each result arrives, and only its number is kept.
import { CALLABLE, checkOptions, type OptionKinds, TEXT } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import type { RunObserver, RunWatcher } from '../protocol/runObserver.js';
import { cacheLifetimes } from './cacheLifetimes.js';
import { Callback, ENTERED, OBSERVERS, WATCHERS } from './callback.js';
import { ADD_TO, type CachedRun, type PageSource, type ProfilerTrace } from './profilerTrace.js';
import { recordRun } from './runRecording.js';
import { type VisualizeOptions, visualize } from './visualize.js';

/** One result's stay in the cache. */
export interface CacheData {
  readonly key: string;
  /** The task as it stands in the graph, e.g. `[add, 1, 2]`. */
  readonly task: unknown;
  /** What the metric gave for the result; 1 without a metric. */
  readonly metric: number;
  /** When the result came to be: its task's end where it ran. Seconds since the epoch. */
  readonly cacheTime: number;
  /** When it was no longer needed: the end of the last task that used it, or of the run. Seconds since the epoch. */
  readonly freeTime: number;
}

/** A measure of a result, e.g. `nbytes`. */
export type CacheMetric = (value: unknown) => number;

export interface CacheProfilerOptions {
  /** Measures each result; default: 1 for every result. With a metric every result travels to the caller's thread. */
  readonly metric?: CacheMetric | undefined;
  /** What the plot calls it; default: the function's name, or `count` without a metric. */
  readonly metricName?: string | undefined;
}

const OPTIONS: OptionKinds<CacheProfilerOptions> = { metric: CALLABLE, metricName: TEXT };

/** One run as this profiler saw it. */
interface Part extends CachedRun {
  /** The materialised entries, and the state of the recording that they were made from. */
  rows: readonly CacheData[];
  rowCount: number;
  ended: boolean;
}

/**
 * Records for every result its size by `metric`, when it entered the scheduler's cache and when it left it.
 *
 *     { using cprof = new CacheProfiler({ metric: nbytes }); await getThreaded(graph, 'x'); cprof.visualize(); }
 *
 * Results are listed in the order in which they were let go, and add up over the runs of a block, or while registered, until
 * `clear()`; the first run in a new `using` block starts afresh. While a run goes on, only what it has let go is listed.
 *
 * @source Dask's `dask.diagnostics.CacheProfiler`
 */
export class CacheProfiler extends Callback implements PageSource {
  readonly metricName: string;
  readonly #metric: CacheMetric | undefined;
  #parts: Part[] = [];
  #results: CacheData[] | undefined;
  #fresh = false;

  /**
   * Takes options, or the metric alone.
   *
   * @throws ERR_LONGPOLE_INVALID_ARGUMENT if the metric is not a function
   */
  constructor(options: CacheProfilerOptions | CacheMetric = {}) {
    super();
    const given: CacheProfilerOptions = typeof options === 'function' ? { metric: options } : options;
    checkOptions('CacheProfiler', given, OPTIONS);
    const { metric, metricName } = given;
    this.#metric = metric;
    this.metricName = metricName ?? (metric === undefined ? 'count' : metric.name || 'metric');
  }

  /** The results that were held, in the order in which they were let go. The same array until there is something new. */
  get results(): CacheData[] {
    if (this.#results === undefined || this.#parts.some(isStale)) {
      for (const part of this.#parts) if (isStale(part)) materialize(part);
      this.#results = this.#parts.flatMap((part) => part.rows);
    }
    return this.#results;
  }

  /** Forgets everything recorded so far; a run that goes on is forgotten as a whole. */
  clear(): void {
    this.#parts = [];
    this.#results = undefined;
  }

  /**
   * Writes a self-contained HTML page of what was held over time, a line per task prefix, and returns its path.
   *
   * @throws ERR_LONGPOLE_INVALID_ARGUMENT for options that are not valid
   */
  visualize(options?: VisualizeOptions): string {
    return visualize(this, options);
  }

  override [ENTERED](): void {
    this.#fresh = true;
  }

  override [OBSERVERS](): RunObserver[] {
    const metric = this.#metric;
    let metrics: Float64Array | undefined;
    const recorder = this.#recorder((size) => {
      metrics = metric && new Float64Array(size);
      return metrics;
    });
    if (metric === undefined) return [recorder];
    const measurer: RunObserver = {
      perTask: true,
      results: true,
      taskFinished: (id, value, _worker, _startTime, _stopTime, run) => {
        if (metrics) metrics[id] = measure(metric, value, run.computation.keys[id]!);
      },
    };
    return [recorder, measurer];
  }

  #recorder(metricsOf: (size: number) => Float64Array | undefined = () => undefined): RunWatcher {
    return recordRun((recording) => {
      if (this.#fresh) this.clear();
      this.#fresh = false;
      const metrics = metricsOf(recording.computation.size);
      this.#parts.push({ recording, metrics, rows: [], rowCount: -1, ended: false });
    });
  }

  /** A metric looks at every result, and the results of a cluster stay at its workers. */
  override [WATCHERS](): RunWatcher[] | undefined {
    return this.#metric === undefined ? [this.#recorder()] : undefined;
  }

  [ADD_TO](page: ProfilerTrace): void {
    page.addCache(this.metricName, this.#parts);
  }
}

function measure(metric: CacheMetric, value: unknown, key: string): number {
  const measured: unknown = metric(value);
  if (typeof measured === 'number') return measured;
  throw invalidArgument(
    `CacheProfiler: the metric ${metric.name || '(anonymous)'} returned ${typeof measured} for the result of ${key}; it must return a number.`,
  );
}

function isStale({ recording, rowCount, ended }: Part): boolean {
  return rowCount !== recording.tasks.length || ended !== !Number.isNaN(recording.endTime);
}

function materialize(part: Part): void {
  const { recording, metrics } = part;
  part.rowCount = recording.tasks.length;
  part.ended = !Number.isNaN(recording.endTime);
  const held = cacheLifetimes(recording);
  part.rows = Array.from(held.ids, (id, i) => ({
    key: recording.computation.keys[id]!,
    task: recording.task(id),
    metric: metrics ? metrics[id]! : 1,
    cacheTime: held.cacheTimes[i]!,
    freeTime: held.freeTimes[i]!,
  }));
}
