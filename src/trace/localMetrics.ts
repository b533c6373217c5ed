// Rows of local diagnostics in the table `metrics`: the time of each result in the scheduler's cache, and the samples
// of a MemorySampler. A row is the change of a level, so the sum of the rows up to a moment is the level at that
// moment.
import { getOrMake } from '../base/lookUps.js';
import { sortedOrder } from '../base/sortedOrder.js';
import type { StringTable } from './stringTable.js';
import type { TableBuilder } from './tableRows.js';
import { type Trace, textOf } from './trace.js';

/**
 * Context of a CacheProfiler's rows. The activity is the name of its metric; the task is the one that made the result.
 */
export const CACHE_CONTEXT = 'cache';
/** Context of a MemorySampler's rows. The prefix is the label; the activity is the measure. */
export const SAMPLER_CONTEXT = 'memory-sampler';

/**
 * Results in the cache as one CacheProfiler saw them, in parallel columns. A result is in the cache from `cacheTime` to
 * `freeTime`.
 */
export interface CacheStays {
  /** Name of the metric, e.g. `count` or `nbytes`. */
  readonly metricName: string;
  /** Task ids, as in `tasks.id`. */
  readonly task: Float64Array;
  /** Prefixes, ids of the trace's strings. */
  readonly prefix: Int32Array;
  /** Seconds since the epoch. */
  readonly cacheTime: Float64Array;
  readonly freeTime: Float64Array;
  readonly metric: Float64Array;
}

/** Adds two rows per result, in order of time. At equal times, results that enter come before results that leave. */
export function addCacheStays(
  metrics: TableBuilder<'metrics'>,
  strings: StringTable,
  stays: CacheStays,
): void {
  const { metricName, task, prefix, cacheTime, freeTime, metric } = stays;
  const row = {
    worker: -1,
    context: strings.internString(CACHE_CONTEXT),
    span: strings.internString(''),
    activity: strings.internString(metricName),
    unit: strings.internString(/bytes$/i.test(metricName) ? 'bytes' : 'count'),
  };
  const entering = sortedOrder(cacheTime, false);
  const leaving = sortedOrder(freeTime, false);
  let enter = 0;
  for (const stay of leaving) {
    for (; enter < entering.length && cacheTime[entering[enter]!]! <= freeTime[stay]!; enter++) {
      const next = entering[enter]!;
      const [time, value] = [cacheTime[next]!, metric[next]!];
      metrics.add({ ...row, time, prefix: prefix[next]!, value, task: task[next]! });
    }
    metrics.add({
      ...row,
      time: freeTime[stay]!,
      prefix: prefix[stay]!,
      value: -metric[stay]!,
      task: task[stay]!,
    });
  }
}

/**
 * Returns the columns of each CacheProfiler, in the order of their first rows. A result that never left the cache gets
 * the time of the last row as `freeTime`.
 */
export function cacheStaysOf(trace: Trace): CacheStays[] {
  const { metrics, strings } = trace;
  const lists = new Map<number, StayList>();
  for (const row of rowsOf(trace, CACHE_CONTEXT)) {
    const activity = metrics.activity[row]!;
    const list = getOrMake(lists, activity, () => new StayList());
    list.add(metrics.task[row]!, metrics.prefix[row]!, metrics.time[row]!, metrics.value[row]!);
  }
  return Array.from(lists, ([activity, list]) => list.stays(textOf(strings, activity)));
}

class StayList {
  readonly #task: number[] = [];
  readonly #prefix: number[] = [];
  readonly #cacheTime: number[] = [];
  readonly #freeTime: number[] = [];
  readonly #metric: number[] = [];
  /** Entry of each task whose result is in the cache. */
  readonly #held = new Map<number, number>();
  #last = Number.NEGATIVE_INFINITY;

  add(task: number, prefix: number, time: number, value: number): void {
    if (time > this.#last) this.#last = time;
    const entry = this.#held.get(task);
    if (entry !== undefined) {
      this.#freeTime[entry] = time;
      this.#held.delete(task);
      return;
    }
    this.#held.set(task, this.#task.length);
    this.#task.push(task);
    this.#prefix.push(prefix);
    this.#cacheTime.push(time);
    this.#freeTime.push(Number.NaN);
    this.#metric.push(value);
  }

  stays(metricName: string): CacheStays {
    for (const entry of this.#held.values()) this.#freeTime[entry] = this.#last;
    return {
      metricName,
      task: Float64Array.from(this.#task),
      prefix: Int32Array.from(this.#prefix),
      cacheTime: Float64Array.from(this.#cacheTime),
      freeTime: Float64Array.from(this.#freeTime),
      metric: Float64Array.from(this.#metric),
    };
  }
}

/** Samples of one label, in order of time. */
export interface SampledLevel {
  readonly label: string;
  readonly points: readonly { readonly time: number; readonly bytes: number }[];
}

/** Adds the samples of a MemorySampler. Each row holds the change since the previous sample of its label. */
export function addSamples(
  metrics: TableBuilder<'metrics'>,
  strings: StringTable,
  levels: readonly SampledLevel[],
): void {
  const row = {
    worker: -1,
    context: strings.internString(SAMPLER_CONTEXT),
    span: strings.internString(''),
    activity: strings.internString('memory'),
    unit: strings.internString('bytes'),
  };
  for (const { label, points } of levels) {
    const prefix = strings.internString(label);
    let before = 0;
    for (const { time, bytes } of points) {
      metrics.add({ ...row, time, prefix, value: bytes - before });
      before = bytes;
    }
  }
}

/** Returns the samples of a MemorySampler by label, in the order of the labels' first rows. */
export function sampledLevels(trace: Trace): SampledLevel[] {
  const { metrics, strings } = trace;
  const levels = new Map<number, { time: number; bytes: number }[]>();
  for (const row of rowsOf(trace, SAMPLER_CONTEXT)) {
    const prefix = metrics.prefix[row]!;
    const points = getOrMake(levels, prefix, () => []);
    points.push({ time: metrics.time[row]!, bytes: (points.at(-1)?.bytes ?? 0) + metrics.value[row]! });
  }
  return Array.from(levels, ([prefix, points]) => ({
    label: textOf(strings, prefix),
    points,
  }));
}

/** Yields the rows of one context. Compares ids instead of texts, because views of a live trace call this often. */
function* rowsOf({ metrics, strings }: Trace, context: string): Generator<number> {
  let [last, isWanted] = [-1, false];
  for (let row = 0; row < metrics.length; row++) {
    const id = metrics.context[row]!;
    if (id !== last) [last, isWanted] = [id, id >= 0 && strings.get(id) === context];
    if (isWanted) yield row;
  }
}
