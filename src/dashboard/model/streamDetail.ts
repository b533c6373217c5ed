// Level of detail of the task stream. A run at least MIN_WIDTH columns wide is a rectangle. Narrower runs are summed
// exactly into columns of one pixel, so that every second and every run of the window is drawn. Cost: O(visible runs)
// for wide runs, O(columns x prefixes x log) for any number of narrow runs.
import type { PartialUse } from './sections.js';
import { type LaneGroup, type LaneRow, lowerBound, type TaskLanes } from './taskLanes.js';

/** Runs narrower than this many columns are summed. */
export const MIN_WIDTH = 2;

/** The visible range of time in columns. Column c is [start + c·perColumn, start + (c + 1)·perColumn). */
export interface ColumnGrid {
  /** Seconds since the origin. */
  readonly start: number;
  /** Seconds per column. */
  readonly perColumn: number;
  readonly columns: number;
}

/** Receives the shapes of one group. Columns count from the start of the grid. */
export interface ShapeSink {
  /** Draws a wide run. `from` and `to` are fractional columns, which may lie outside the grid. */
  run(position: number, from: number, to: number): void;
  /**
   * Draws narrow runs: their seconds within the column, and how many start in it or, in the first column, before the
   * grid.
   */
  density(column: number, seconds: number, runs: number): void;
}

/** Returns the first position of the group that ends after `time` or starts at or after it. */
export function firstVisible(lanes: TaskLanes, group: LaneGroup, time: number): number {
  let position = lowerBound(lanes.start, group.from, group.to, time);
  while (position > group.from && lanes.stop[position - 1]! > time) position--;
  return position;
}

/** Returns the number of runs of the group that are visible between two times. */
export function visibleRuns(lanes: TaskLanes, group: LaneGroup, start: number, stop: number): number {
  const from = firstVisible(lanes, group, start);
  return lowerBound(lanes.start, from, group.to, stop) - from;
}

/** Returns the exact seconds of the group's runs between two times. Cost: two binary searches. */
export function busySeconds(lanes: TaskLanes, group: LaneGroup, start: number, stop: number): number {
  const from = firstVisible(lanes, group, start);
  const to = lowerBound(lanes.start, from, group.to, stop);
  if (to === from) return 0;
  const before = Math.max(0, Math.min(start, lanes.stop[from]!) - lanes.start[from]!);
  const after = Math.max(0, lanes.stop[to - 1]! - Math.max(stop, lanes.start[to - 1]!));
  return Math.max(0, lanes.cumulative[to]! - lanes.cumulative[from]! - before - after);
}

/** Returns the seconds between two times in which the tasks of a row used its thread. */
export function usedSeconds(lanes: TaskLanes, row: LaneRow, start: number, stop: number): number {
  let seconds = 0;
  for (let lane = row.firstLane; lane < row.firstLane + row.laneCount; lane++)
    for (const group of lanes.lanes[lane]!)
      if (!group.isActivity) seconds += busySeconds(lanes, group, start, stop);
  return row.partial.reduce((sum, use) => sum + partialSeconds(use, start, stop), seconds);
}

/** Returns the seconds of a partial use between two times, to add to those of the drawn runs. */
export function partialSeconds(use: PartialUse, start: number, stop: number): number {
  return use.share * Math.max(0, Math.min(stop, use.stop) - Math.max(start, use.start));
}

/** Returns the seconds between two times in which the worker of a row existed. */
export function livedSeconds({ life }: LaneRow, start: number, stop: number): number {
  return Math.max(0, Math.min(stop, life.stop) - Math.max(start, life.start));
}

/** Passes every visible run of the group to the sink, in order of time. */
export function layoutGroup(lanes: TaskLanes, group: LaneGroup, grid: ColumnGrid, sink: ShapeSink): void {
  const { start, stop } = lanes;
  const end = grid.start + grid.columns * grid.perColumn;
  const wide = MIN_WIDTH * grid.perColumn;
  let position = firstVisible(lanes, group, grid.start);
  while (position < group.to && start[position]! < end) {
    if (stop[position]! - start[position]! >= wide) {
      emitRun(lanes, position, grid, sink);
      position++;
      continue;
    }
    const column = Math.max(0, Math.floor((start[position]! - grid.start) / grid.perColumn));
    // The division and this product may round differently. Taking at least one run guarantees progress.
    const columnEnd = Math.min(end, grid.start + (column + 1) * grid.perColumn);
    const next = gallop(start, position + 1, group.to, columnEnd);
    const lastIsWide = stop[next - 1]! - start[next - 1]! >= wide;
    sumNarrow(lanes, position, lastIsWide ? next - 1 : next, Math.min(column, grid.columns - 1), grid, sink);
    if (lastIsWide) emitRun(lanes, next - 1, grid, sink);
    position = next;
  }
}

function emitRun(lanes: TaskLanes, position: number, grid: ColumnGrid, sink: ShapeSink): void {
  const from = (lanes.start[position]! - grid.start) / grid.perColumn;
  const to = (lanes.stop[position]! - grid.start) / grid.perColumn;
  sink.run(position, from, to);
}

/** Sums narrow runs that all start in `column`, except that the first one may start left of the grid. */
function sumNarrow(
  lanes: TaskLanes,
  from: number,
  to: number,
  column: number,
  grid: ColumnGrid,
  sink: ShapeSink,
): void {
  let seconds = lanes.cumulative[to]! - lanes.cumulative[from]!;
  seconds -= Math.max(0, Math.min(grid.start, lanes.stop[from]!) - lanes.start[from]!);
  // Only the last run can extend beyond the column, by at most two columns because it is narrow.
  const over: number[] = [];
  let columnEnd = grid.start + (column + 1) * grid.perColumn;
  let beyond = Math.max(0, lanes.stop[to - 1]! - columnEnd);
  seconds -= beyond;
  while (beyond > 0 && column + over.length + 1 < grid.columns) {
    const part = Math.min(beyond, grid.perColumn);
    over.push(part);
    beyond -= part;
    columnEnd += grid.perColumn;
  }
  sink.density(column, Math.max(0, seconds), to - from);
  over.forEach((part, i) => {
    sink.density(column + 1 + i, part, 0);
  });
}

/** Searches like lowerBound for a limit that is probably near, with steps that double. */
function gallop(values: Float64Array, from: number, to: number, limit: number): number {
  let step = 1;
  let low = from;
  while (low + step < to && values[low + step]! < limit) {
    low += step;
    step *= 2;
  }
  return lowerBound(values, low, Math.min(to, low + step + 1), limit);
}
