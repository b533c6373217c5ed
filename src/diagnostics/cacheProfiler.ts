// The cache profiler: records when each result was held. With the default metric it is a view of the recordings, like
// Profiler. Another metric is evaluated when a result arrives, and only the number is kept.
import { CALLABLE, checkOptions, type OptionKinds, TEXT } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import type { RunObserver, RunWatcher } from '../protocol/runObserver.js';
import { OBSERVERS, WATCHERS } from './callback.js';
import { ADD_TO, type ProfilerTrace } from './profilerTrace.js';
import { RunProfiler } from './runProfiler.js';
import { type CachedRun, heldResults, recordRun } from './runRecording.js';

/** One result in the cache. */
export interface CacheData {
  readonly key: string;
  /** The task in the graph, e.g. `[add, 1, 2]`. */
  readonly task: unknown;
  /** Value of the metric for the result; 1 without a metric. */
  readonly metric: number;
  /** End of the task, in seconds since the epoch on the clock of its worker. */
  readonly cacheTime: number;
  /** End of the last dependent, or of the run, in seconds since the epoch. */
  readonly freeTime: number;
}

/** A measure of a result, e.g. `nbytes`. */
export type CacheMetric = (value: unknown) => number;

export interface CacheProfilerOptions {
  /** Measures a result. Default: 1 for every result. With a metric, every result is sent to the caller's thread. */
  readonly metric?: CacheMetric | undefined;
  /** Name of the metric in the plot. Default: the name of the function, or `count` without a metric. */
  readonly metricName?: string | undefined;
}

const OPTIONS: OptionKinds<CacheProfilerOptions> = { metric: CALLABLE, metricName: TEXT };

interface Part extends CachedRun {
  rows: readonly CacheData[];
  /** State of the recording for which `rows` were made: its rows, and whether it had ended. */
  rowCount: number;
  ended: boolean;
}

/**
 * Records for every result the value of `metric`, and when the result entered and left the scheduler's cache.
 *
 *     { using cprof = new CacheProfiler({ metric: nbytes }); await getThreaded(graph, 'x'); cprof.visualize(); }
 *
 * Results are listed in the order in which they were released; during a run, only released results are listed. Results
 * of several runs accumulate until `clear()`. The first run in a new `using` block clears the results of earlier
 * blocks.
 *
 * @source Dask's `dask.diagnostics.CacheProfiler`
 */
export class CacheProfiler extends RunProfiler {
  readonly metricName: string;
  readonly #metric: CacheMetric | undefined;
  #parts: Part[] = [];
  #results: CacheData[] | undefined;

  /**
   * @param options options, or the metric alone
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if the metric is not a function, or for an unknown option
   */
  constructor(options: CacheProfilerOptions | CacheMetric = {}) {
    super('result');
    const given: CacheProfilerOptions = typeof options === 'function' ? { metric: options } : options;
    checkOptions('CacheProfiler', given, OPTIONS);
    const { metric, metricName } = given;
    this.#metric = metric;
    this.metricName = metricName ?? (metric === undefined ? 'count' : metric.name || 'metric');
  }

  /** Recorded results in the order in which they were released. The same array until there are new results. */
  override get results(): CacheData[] {
    if (this.#results === undefined || this.#parts.some(isStale)) {
      for (const part of this.#parts) if (isStale(part)) materialize(part);
      this.#results = this.#parts.flatMap((part) => part.rows);
    }
    return this.#results;
  }

  /** Removes all results, and all results of a run in progress, also future ones. */
  clear(): void {
    this.#parts = [];
    this.#results = undefined;
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
      this.runBegins(() => this.clear());
      const metrics = metricsOf(recording.computation.size);
      this.#parts.push({ recording, metrics, rows: [], rowCount: -1, ended: false });
    });
  }

  /** With a metric a cluster cannot be watched, because its results stay on the workers. */
  override [WATCHERS](): RunWatcher[] | undefined {
    return this.#metric === undefined ? [this.#recorder()] : undefined;
  }

  override [ADD_TO](page: ProfilerTrace): void {
    page.addCache(this.metricName, this.#parts);
  }
}

function measure(metric: CacheMetric, value: unknown, key: string): number {
  const measured: unknown = metric(value);
  if (typeof measured === 'number') return measured;
  throw invalidArgument(
    `CacheProfiler: the metric ${metric.name || '(anonymous)'} returned ${typeof measured} for the result of '${key}'. Return a number.`,
  );
}

function isStale({ recording, rowCount, ended }: Part): boolean {
  return rowCount !== recording.tasks.length || ended !== !Number.isNaN(recording.endTime);
}

function materialize(part: Part): void {
  const { recording } = part;
  part.rowCount = recording.tasks.length;
  part.ended = !Number.isNaN(recording.endTime);
  const { keys } = recording.computation;
  part.rows = heldResults(part).map(({ id, metric, cacheTime, freeTime }) => {
    return { key: keys[id]!, task: recording.task(id), metric, cacheTime, freeTime };
  });
}
