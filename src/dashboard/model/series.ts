// Lines over time and their level of detail: at most four points per pixel column (first, least, largest, last), so
// that no peak disappears when many samples share a column. Cost: O(samples in the window).
import type { CacheSection } from '../../protocol/profilePage.js';
import type { ColumnGrid } from './taskColumns.js';
import { lowerBound, sortBy } from './taskLanes.js';

export interface Series {
  /** Seconds since the origin, ascending. */
  readonly time: Float64Array;
  readonly value: Float64Array;
  /** True if a value holds until the next one; false if the line is drawn straight from sample to sample. */
  readonly steps: boolean;
  readonly largest: number;
}

/** One line of the cache plot: the metric of this prefix that is in the cache, over time. */
export interface PrefixSeries {
  readonly prefix: number;
  readonly series: Series;
}

export function lineSeries(time: Float64Array, value: Float64Array, origin: number): Series {
  return { time: time.map((t) => t - origin), value, steps: false, largest: largestOf(value) };
}

/** Per prefix the running sum: up by the metric when a result enters the cache, down when it leaves. */
export function cacheSeries(
  section: CacheSection,
  prefixOf: (entry: number) => number,
  origin: number,
): PrefixSeries[] {
  const lists: number[][] = [];
  for (let entry = 0; entry < section.task.length; entry++) {
    const prefix = prefixOf(entry);
    const list = lists[prefix];
    if (list === undefined) lists[prefix] = [entry];
    else list.push(entry);
  }
  const result: PrefixSeries[] = [];
  lists.forEach((entries, prefix) => {
    result.push({ prefix, series: runningSum(section, Uint32Array.from(entries), origin) });
  });
  return result;
}

function runningSum(section: CacheSection, entering: Uint32Array, origin: number): Series {
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
    // Sums of fractions drift; an empty cache is exactly empty.
    value[size++] = enter === leave ? 0 : sum;
  }
  const values = value.slice(0, size);
  return { time: time.slice(0, size), value: values, steps: true, largest: largestOf(values) };
}

function largestOf(values: Float64Array): number {
  let largest = 0;
  for (const value of values) if (value > largest) largest = value;
  return largest;
}

/** The value shown at a time: of steps the last one before it (0 before the first), of lines the nearest sample's. */
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

/**
 * The line within the grid as x, value, x, value, … with x in columns. It starts and ends at the last sample outside,
 * so that a line leaves the picture where it should.
 */
export function linePoints(series: Series, grid: ColumnGrid): number[] {
  const { time, value } = series;
  const end = grid.start + grid.columns * grid.perColumn;
  const first = Math.max(0, lowerBound(time, 0, time.length, grid.start) - 1);
  const last = Math.min(time.length, lowerBound(time, first, time.length, end) + 1);
  const points: number[] = [];
  const x = (i: number) => (time[i]! - grid.start) / grid.perColumn;
  // Before the first step the value is 0: the line rises from there.
  if (series.steps && first === 0 && last > 0) points.push(x(0), 0);
  let i = first;
  while (i < last) {
    const column = Math.floor(x(i));
    let next = i + 1;
    while (next < last && Math.floor(x(next)) === column) next++;
    if (next - i <= 4) for (let k = i; k < next; k++) addPoint(points, x(k), value[k]!, series.steps);
    else addColumn(points, column, x(i), x(next - 1), value.subarray(i, next), series.steps);
    i = next;
  }
  if (series.steps && points.length > 0) {
    const lastX = points[points.length - 2]!;
    if (lastX < grid.columns)
      points.push(last === time.length ? lastX : grid.columns, points[points.length - 1]!);
  }
  return points;
}

/** First, least, largest and last value of a column that has many. */
function addColumn(
  points: number[],
  column: number,
  firstX: number,
  lastX: number,
  values: Float64Array,
  steps: boolean,
): void {
  let least = values[0]!;
  let largest = values[0]!;
  for (const value of values) {
    if (value < least) least = value;
    if (value > largest) largest = value;
  }
  addPoint(points, firstX, values[0]!, steps);
  points.push(column + 0.5, least, column + 0.5, largest);
  points.push(lastX, values[values.length - 1]!);
}

function addPoint(points: number[], x: number, value: number, steps: boolean): void {
  if (steps && points.length > 0) points.push(x, points[points.length - 1]!);
  points.push(x, value);
}
