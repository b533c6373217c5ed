// Lines over time and their level of detail. If many samples share a pixel column, the column shows their range, so
// that no peak disappears. Cost: O(samples in the window).

import { countedOffsets, groupedRows, sortBy } from '../../base/groups.js';
import type { CacheSection } from './sections.js';
import type { ColumnGrid } from './streamDetail.js';
import { lowerBound } from './taskLanes.js';
import type { TimeWindow } from './timeView.js';

export interface Series {
  /** Seconds since the origin, ascending. */
  readonly time: Float64Array;
  readonly value: Float64Array;
  /** True if a value holds until the next one; false if the line is straight between samples. */
  readonly steps: boolean;
  readonly largest: number;
}

/** Line of the cache plot: the metric, over time, of a prefix's results in the cache. */
export interface PrefixSeries {
  readonly prefix: number;
  readonly series: Series;
}

export function lineSeries(time: Float64Array, value: Float64Array, origin: number): Series {
  return { time: time.map((t) => t - origin), value, steps: false, largest: largestOf(value) };
}

/**
 * Returns a running sum per prefix: a result adds its metric when it enters the cache, and subtracts it when it leaves.
 */
export function cacheSeries(section: CacheSection, origin: number): PrefixSeries[] {
  const { prefix: prefixes } = section;
  const offsets = countedOffsets(prefixes, 1 + prefixes.reduce((last, prefix) => Math.max(last, prefix), -1));
  const entries = groupedRows(prefixes, offsets);
  return [...new Set(prefixes)]
    .sort((a, b) => a - b)
    .map((prefix) => {
      const own = entries.subarray(offsets[prefix], offsets[prefix + 1]);
      return { prefix, series: runningSum(section, own, origin) };
    });
}

function runningSum(section: CacheSection, entering: Int32Array, origin: number): Series {
  const { cacheTime, freeTime, metric } = section;
  const leaving = entering.slice();
  sortBy(entering, cacheTime);
  sortBy(leaving, freeTime);
  const time = new Float64Array(entering.length * 2);
  const value = new Float64Array(entering.length * 2);
  let size = 0;
  let sum = 0;
  let enter = 0;
  let leave = 0;
  while (leave < leaving.length) {
    const entersNext = enter < entering.length && cacheTime[entering[enter]!]! <= freeTime[leaving[leave]!]!;
    const at = entersNext ? cacheTime[entering[enter]!]! : freeTime[leaving[leave]!]!;
    if (entersNext) sum += metric[entering[enter++]!]!;
    else sum -= metric[leaving[leave++]!]!;
    if (size > 0 && time[size - 1] === at - origin) size--;
    time[size] = at - origin;
    // Sums of fractions drift, so an empty cache is set to 0.
    value[size++] = enter === leave ? 0 : sum;
  }
  const values = value.slice(0, size);
  return { time: time.slice(0, size), value: values, steps: true, largest: largestOf(values) };
}

export function largestOf(values: Float64Array): number {
  let largest = 0;
  for (const value of values) if (value > largest) largest = value;
  return largest;
}

/** Returns the value at a time: the last step (0 before the first), or the nearest sample of a line. */
export function valueAt(series: Series, time: number): number | undefined {
  const { length } = series.time;
  const after = lowerBound(series.time, 0, length, time);
  if (series.steps) {
    const at = after < length && series.time[after] === time ? after : after - 1;
    return at < 0 ? 0 : series.value[at];
  }
  if (length === 0 || time < series.time[0]! || time > series.time[length - 1]!) return undefined;
  const before = Math.max(0, after - 1);
  const nearest = time - series.time[before]! <= series.time[after]! - time ? before : after;
  return series.value[nearest];
}

/** Returns the height of one surface of a stack at a time. */
export function lineValue(series: Series, below: Series | undefined, time: number): number | undefined {
  const value = valueAt(series, time);
  return value === undefined ? undefined : value - (below === undefined ? 0 : (valueAt(below, time) ?? 0));
}

/** Returns the largest height of one surface of a stack in a window of time; undefined if it has no value there. */
export function peakIn(series: Series, below: Series | undefined, window: TimeWindow): number | undefined {
  const { time } = series;
  const first = lowerBound(time, 0, time.length, window.start);
  // A step before the window lasts into it.
  let peak = series.steps ? lineValue(series, below, window.start) : undefined;
  for (let i = first; i < time.length && time[i]! <= window.stop; i++)
    peak = Math.max(peak ?? 0, series.value[i]! - (below === undefined ? 0 : below.value[i]!));
  return peak ?? lineValue(series, below, window.start);
}

/** Returns the range of samples of a line in a window: the samples inside, and the nearest on either side. */
function visibleSamples(series: Series, grid: ColumnGrid): { first: number; last: number } {
  const { time } = series;
  const end = grid.start + grid.columns * grid.perColumn;
  const first = Math.max(0, lowerBound(time, 0, time.length, grid.start) - 1);
  return { first, last: Math.min(time.length, lowerBound(time, first, time.length, end) + 1) };
}

/** Returns whether several samples share a column. `columnRanges` then shows the line, otherwise `linePoints`. */
export function isDense(series: Series, grid: ColumnGrid): boolean {
  const { first, last } = visibleSamples(series, grid);
  return last - first > 2 * grid.columns;
}

/**
 * Returns a line as x, value, x, value, … with x in columns. The line includes the nearest samples outside the grid.
 */
export function linePoints(series: Series, grid: ColumnGrid): number[] {
  const { time, value } = series;
  const { first, last } = visibleSamples(series, grid);
  const points: number[] = [];
  const x = (i: number) => (time[i]! - grid.start) / grid.perColumn;
  // The value before the first step is 0.
  if (series.steps && first === 0 && last > 0) points.push(x(0), 0);
  for (let i = first; i < last; i++) {
    if (series.steps && points.length > 0) points.push(x(i), points[points.length - 1]!);
    points.push(x(i), value[i]!);
  }
  return points;
}

/**
 * Returns the lowest and the highest value of a dense line in each column, NaN for columns without the line. A column
 * includes the value at which the line enters it, so that neighbours join.
 */
export function columnRanges(series: Series, grid: ColumnGrid): { low: Float64Array; high: Float64Array } {
  const { time, value } = series;
  const { first, last } = visibleSamples(series, grid);
  const low = new Float64Array(grid.columns).fill(Number.NaN);
  const high = new Float64Array(grid.columns).fill(Number.NaN);
  let i = first;
  let entering = series.steps && first === 0 ? 0 : Number.NaN;
  for (let column = 0; column < grid.columns; column++) {
    const end = grid.start + (column + 1) * grid.perColumn;
    let least = entering;
    let largest = entering;
    for (; i < last && time[i]! < end; i++) {
      entering = value[i]!;
      // Samples before the grid only give the value at which the line enters.
      if (time[i]! < grid.start || !(least <= entering)) least = entering;
      if (time[i]! < grid.start || !(largest >= entering)) largest = entering;
    }
    if (i === last && (i === 0 || time[i - 1]! < end - grid.perColumn)) break;
    if (i === first) continue;
    if (!series.steps && i < last) entering = interpolate(series, i, end);
    low[column] = series.steps || !(entering < least) ? least : entering;
    high[column] = series.steps || !(entering > largest) ? largest : entering;
  }
  return { low, high };
}

/** Returns the value at `at` of the straight line from sample i - 1 to sample i. */
function interpolate({ time, value }: Series, i: number, at: number): number {
  const [from, to] = [time[i - 1]!, time[i]!];
  return to === from ? value[i]! : value[i - 1]! + ((value[i]! - value[i - 1]!) * (at - from)) / (to - from);
}
