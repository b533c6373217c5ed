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

/** One result in the cache, from `cacheTime` to `freeTime`. */
interface CacheStay {
  /** Id of the task, as in `tasks.id`. */
  readonly task: number;
  /** Prefix, an id of the trace's strings. */
  readonly prefix: number;
  readonly metric: number;
  /** Seconds since the epoch. */
  readonly cacheTime: number;
  readonly freeTime: number;
}

/** Results in the cache as one CacheProfiler saw them. */
interface CacheStays {
  /** Name of the metric, e.g. `count` or `nbytes`. */
  readonly metricName: string;
  readonly stays: readonly CacheStay[];
}

/** Adds two rows per result, in order of time. At equal times, results that enter come before results that leave. */
export function addCacheStays(
  metrics: TableBuilder<'metrics'>,
  strings: StringTable,
  { metricName, stays }: CacheStays,
): void {
  const row = {
    worker: -1,
    context: strings.internString(CACHE_CONTEXT),
    span: strings.internString(''),
    activity: strings.internString(metricName),
    unit: strings.internString(/bytes$/i.test(metricName) ? 'bytes' : 'count'),
  };
  const times = new Float64Array([
    ...stays.map(({ cacheTime }) => cacheTime),
    ...stays.map(({ freeTime }) => freeTime),
  ]);
  for (const at of sortedOrder(times, false)) {
    const { task, prefix, metric } = stays[at % stays.length]!;
    metrics.add({ ...row, time: times[at]!, prefix, value: at < stays.length ? metric : -metric, task });
  }
}

/**
 * Returns the results of each CacheProfiler, in the order of their first rows. A result that never left the cache gets
 * the time of the last row as `freeTime`.
 */
export function cacheStaysOf(trace: Trace): CacheStays[] {
  const { metrics, strings } = trace;
  const lists = new Map<number, { stays: Stay[]; held: Map<number, Stay>; last: number }>();
  for (const row of rowsOf(trace, CACHE_CONTEXT)) {
    const [activity, task, cacheTime] = [metrics.activity[row]!, metrics.task[row]!, metrics.time[row]!];
    const list = getOrMake(lists, activity, () => ({
      stays: [],
      held: new Map(),
      last: Number.NEGATIVE_INFINITY,
    }));
    if (cacheTime > list.last) list.last = cacheTime;
    const known = list.held.get(task);
    if (known !== undefined) {
      known.freeTime = cacheTime;
      list.held.delete(task);
      continue;
    }
    const [prefix, metric] = [metrics.prefix[row]!, metrics.value[row]!];
    const stay = { task, prefix, metric, cacheTime, freeTime: Number.NaN };
    list.stays.push(stay);
    list.held.set(task, stay);
  }
  return Array.from(lists, ([activity, { stays, held, last }]) => {
    for (const stay of held.values()) stay.freeTime = last;
    return { metricName: textOf(strings, activity), stays };
  });
}

/** A result whose row of leaving the cache may follow. */
interface Stay extends CacheStay {
  freeTime: number;
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
