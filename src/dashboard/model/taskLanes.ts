// Runs prepared for drawing. Each worker has a row with as many lanes as tasks overlap (one, unless tasks are
// asynchronous). A lane holds the runs of each prefix in order of time, with running sums of their durations. One
// subtraction of sums gives the time of any range of runs, which the level of detail uses.
import { countedOffsets, groupedRows, sortBy } from '../../base/groups.js';
import { pushTo } from '../../base/lookUps.js';
import type { PartialUse, TaskSection } from './sections.js';
import type { TimeWindow } from './timeView.js';

/** Overlap in seconds up to which runs count as consecutive, because the clock does not resolve less. */
const CLOCK_TOLERANCE = 1e-6;

/** The runs of one prefix in one lane, at positions [from, to) of the columns. */
export interface LaneGroup {
  readonly prefix: number;
  readonly from: number;
  readonly to: number;
  /** True for an activity of workers, false for tasks. */
  readonly isActivity: boolean;
}

export interface LaneRow {
  readonly name: string;
  readonly firstLane: number;
  readonly laneCount: number;
  /** Time in which the worker existed, in seconds since the origin. */
  readonly life: TimeWindow;
  /** Corrections of the seconds of the drawn runs; times in seconds since the origin. */
  readonly partial: readonly PartialUse[];
}

export interface TaskLanes {
  readonly rows: readonly LaneRow[];
  /** Lane → its groups, in order of prefix. */
  readonly lanes: readonly (readonly LaneGroup[])[];
  /** Lane → its top, in heights of a lane of tasks; one longer than `lanes`. Lanes of activities are lower. */
  readonly edges: Float64Array;
  /** Lane → index into `rows`. */
  readonly rowOfLane: Uint32Array;
  /** Position → entry of the section. Positions are ordered by lane, prefix, start. */
  readonly entry: Uint32Array;
  /** Position → start and stop in seconds since `origin`. */
  readonly start: Float64Array;
  readonly stop: Float64Array;
  /** Position → seconds of all positions before it; one longer than the others. */
  readonly cumulative: Float64Array;
}

/** Heights of a lane of activities, and of all such lanes of a worker together, in heights of a lane of tasks. */
const ACTIVITY_HEIGHT = 0.2;
const MAX_ACTIVITIES_HEIGHT = 0.6;

/**
 * Returns the lanes of the given workers, in this order; a worker without tasks has an empty row. `prefixOf` returns
 * the prefix of an entry. Activities are drawn between the tasks where nothing overlaps, else in low lanes below.
 */
export function buildLanes(
  section: TaskSection,
  prefixOf: (entry: number) => number,
  workers: readonly { readonly index: number; readonly name: string; readonly life: TimeWindow }[],
  origin: number,
  isActivity: (entry: number) => boolean,
  partial: readonly PartialUse[],
): TaskLanes {
  const byWorker = entriesByWorker(section, workers);
  const partialOf = new Map<number, PartialUse[]>();
  for (const use of partial)
    pushTo(partialOf, use.worker, { ...use, start: use.start - origin, stop: use.stop - origin });
  const lane = new Uint32Array(section.task.length);
  const rows: LaneRow[] = [];
  let laneCount = 0;
  const edges = [0];
  workers.forEach(({ index, name, life }, row) => {
    const entries = byWorker[row]!;
    const tasks = entries.filter((entry) => !isActivity(entry));
    const own = assignLanes(section, tasks, lane, laneCount);
    const low = assignActivities(section, tasks, entries.filter(isActivity), lane, laneCount, own);
    const lanes = own + low;
    const each = Math.min(ACTIVITY_HEIGHT, MAX_ACTIVITIES_HEIGHT / Math.max(1, low));
    for (let i = 0; i < lanes; i++) edges.push(edges.at(-1)! + (i < own ? 1 : each));
    rows.push({
      name,
      firstLane: laneCount,
      laneCount: lanes,
      life: { start: life.start - origin, stop: life.stop - origin },
      partial: partialOf.get(index) ?? [],
    });
    laneCount += lanes;
  });
  const rowOfLane = new Uint32Array(laneCount);
  rows.forEach((row, index) => {
    rowOfLane.fill(index, row.firstLane, row.firstLane + row.laneCount);
  });
  return {
    rows,
    rowOfLane,
    edges: Float64Array.from(edges),
    ...groupRuns(section, byWorker, lane, laneCount, prefixOf, origin, isActivity),
  };
}

/** Returns the entries of each shown worker, in order of start. */
function entriesByWorker(section: TaskSection, workers: readonly { readonly index: number }[]): Int32Array[] {
  const rowOfWorker = new Map(workers.map(({ index }, row) => [index, row]));
  const rowOf = Int32Array.from(section.worker, (worker) => rowOfWorker.get(worker) ?? -1);
  const offsets = countedOffsets(rowOf, workers.length);
  const entries = groupedRows(rowOf, offsets);
  const lists = workers.map((_, row) => entries.subarray(offsets[row], offsets[row + 1]));
  for (const list of lists) sortBy(list, section.start);
  return lists;
}

/** Assigns tasks to lanes, first fit. Returns the number of lanes, at least 1. */
function assignLanes(
  section: TaskSection,
  entries: Int32Array,
  lane: Uint32Array,
  firstLane: number,
): number {
  const freeAt = [Number.NEGATIVE_INFINITY];
  for (const entry of entries) {
    const start = section.start[entry]! + CLOCK_TOLERANCE;
    let found = freeAt.findIndex((free) => free <= start);
    if (found < 0) found = freeAt.length;
    freeAt[found] = section.stop[entry]!;
    lane[entry] = firstLane + found;
  }
  return freeAt.length;
}

/** Assigns activities to gaps in the first lane of tasks, else to lanes below. Returns the number of lanes below. */
function assignActivities(
  section: TaskSection,
  tasks: Int32Array,
  entries: Int32Array,
  lane: Uint32Array,
  firstLane: number,
  taskLanes: number,
): number {
  const inFirst = tasks.filter((entry) => lane[entry] === firstLane);
  const freeAt: number[] = [];
  let next = 0;
  let free = Number.NEGATIVE_INFINITY;
  for (const entry of entries) {
    const start = section.start[entry]! + CLOCK_TOLERANCE;
    while (next < inFirst.length && section.start[inFirst[next]!]! < start) {
      free = Math.max(free, section.stop[inFirst[next]!]!);
      next++;
    }
    const until = next < inFirst.length ? section.start[inFirst[next]!]! : Number.POSITIVE_INFINITY;
    if (free <= start && section.stop[entry]! <= until + CLOCK_TOLERANCE) {
      lane[entry] = firstLane;
      free = section.stop[entry]!;
      continue;
    }
    let found = freeAt.findIndex((time) => time <= start);
    if (found < 0) found = freeAt.length;
    freeAt[found] = section.stop[entry]!;
    lane[entry] = firstLane + taskLanes + found;
  }
  return freeAt.length;
}

/** Returns the height of all lanes, in heights of a lane of tasks. */
export function totalHeight({ edges }: TaskLanes): number {
  return Math.max(1, edges[edges.length - 1]!);
}

/** Returns the lane of a position. */
export function laneOfPosition({ lanes }: TaskLanes, position: number): number {
  return lanes.findIndex((groups) => groups.some(({ from, to }) => position >= from && position < to));
}

/** Orders entries by lane, prefix and start. */
function groupRuns(
  section: TaskSection,
  byWorker: readonly Int32Array[],
  lane: Uint32Array,
  laneCount: number,
  prefixOf: (entry: number) => number,
  origin: number,
  isActivity: (entry: number) => boolean,
) {
  const lists: number[][][] = Array.from({ length: laneCount }, () => []);
  for (const entries of byWorker) {
    for (const entry of entries) {
      const ofLane = lists[lane[entry]!]!;
      const prefix = prefixOf(entry);
      const list = ofLane[prefix];
      if (list === undefined) ofLane[prefix] = [entry];
      else list.push(entry);
    }
  }
  const entry = new Uint32Array(byWorker.reduce((sum, entries) => sum + entries.length, 0));
  let position = 0;
  const lanes = lists.map((ofLane) => {
    const groups: LaneGroup[] = [];
    // forEach skips the prefixes that the lane does not have.
    ofLane.forEach((entries, prefix) => {
      groups.push({
        prefix,
        from: position,
        to: position + entries.length,
        isActivity: isActivity(entries[0]!),
      });
      for (const value of entries) entry[position++] = value;
    });
    return groups;
  });
  const start = new Float64Array(entry.length);
  const stop = new Float64Array(entry.length);
  const cumulative = new Float64Array(entry.length + 1);
  for (let i = 0; i < entry.length; i++) {
    start[i] = section.start[entry[i]!]! - origin;
    stop[i] = section.stop[entry[i]!]! - origin;
    cumulative[i + 1] = cumulative[i]! + (stop[i]! - start[i]!);
  }
  return { lanes, entry, start, stop, cumulative };
}

/** Returns the first position in [from, to) whose value is at least `limit`, else `to`. Values must ascend. */
export function lowerBound(
  values: Float64Array | Uint32Array,
  from: number,
  to: number,
  limit: number,
): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
