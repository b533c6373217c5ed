// Level of detail of the task stream. A run at least MIN_WIDTH columns wide is a rectangle of its own; narrower runs
// are summed into columns of one pixel, exactly: every second and every run of the window is in one or the other, and
// a test holds us to it. Cost: O(visible runs) where they are wide, O(columns x prefixes x log) where they are narrow,
// however many there are.
import { type LaneGroup, lowerBound, type TaskLanes } from './taskLanes.js';

/** Runs narrower than this many columns are summed. */
export const MIN_WIDTH = 2;

/** The visible stretch of time, cut into columns. Column c is [start + c·perColumn, start + (c + 1)·perColumn). */
export interface ColumnGrid {
  /** Seconds. */
  readonly start: number;
  /** Seconds. */
  readonly perColumn: number;
  readonly columns: number;
}

/** Receives the shapes of one group. Fractions of columns count from the start of the grid and may lie outside it. */
export interface ShapeSink {
  /** A run wide enough to be itself. */
  run(position: number, from: number, to: number): void;
  /** Narrow runs: their seconds within the column, and how many of them start in it or came in from the left. */
  density(column: number, seconds: number, runs: number): void;
}

/** First position of the group that ends after `time` or starts at or after it. */
export function firstVisible(lanes: TaskLanes, group: LaneGroup, time: number): number {
  let position = lowerBound(lanes.start, group.from, group.to, time);
  while (position > group.from && lanes.stop[position - 1]! > time) position--;
  return position;
}

/** How many runs of the group show between two times. */
export function visibleRuns(lanes: TaskLanes, group: LaneGroup, start: number, stop: number): number {
  const from = firstVisible(lanes, group, start);
  return lowerBound(lanes.start, from, group.to, stop) - from;
}

/** Seconds in which a run of the group was going on between two times: exact, two binary searches. */
export function busySeconds(lanes: TaskLanes, group: LaneGroup, start: number, stop: number): number {
  const from = firstVisible(lanes, group, start);
  const to = lowerBound(lanes.start, from, group.to, stop);
  if (to === from) return 0;
  const before = Math.max(0, Math.min(start, lanes.stop[from]!) - lanes.start[from]!);
  const after = Math.max(0, lanes.stop[to - 1]! - Math.max(stop, lanes.start[to - 1]!));
  return Math.max(0, lanes.cumulative[to]! - lanes.cumulative[from]! - before - after);
}

/** Seconds of tasks between two times: what else a worker did meanwhile, as in `beside`, does not make it busier. */
export function taskSeconds(
  lanes: TaskLanes,
  groups: readonly LaneGroup[],
  start: number,
  stop: number,
): number {
  let seconds = 0;
  for (const group of groups) if (!group.beside) seconds += busySeconds(lanes, group, start, stop);
  return seconds;
}

/** Hands every run of the group that shows in the grid to the sink, in order of time. */
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
    // The division and this product may round apart: at least one run is taken, so that the walk goes on.
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

/** Narrow runs from `from` to `to`, which all start in `column` or, the first one, left of the grid. */
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
  // Only the last run can reach beyond the column; a narrow one touches at most two columns more.
  const over: number[] = [];
  let columnEnd = grid.start + (column + 1) * grid.perColumn;
  let rest = Math.max(0, lanes.stop[to - 1]! - columnEnd);
  seconds -= rest;
  while (rest > 0 && column + over.length + 1 < grid.columns) {
    const part = Math.min(rest, grid.perColumn);
    over.push(part);
    rest -= part;
    columnEnd += grid.perColumn;
  }
  sink.density(column, Math.max(0, seconds), to - from);
  over.forEach((part, i) => {
    sink.density(column + 1 + i, part, 0);
  });
}

/** lowerBound for a limit that is probably near: doubles its step first. */
function gallop(values: Float64Array, from: number, to: number, limit: number): number {
  let step = 1;
  let low = from;
  while (low + step < to && values[low + step]! < limit) {
    low += step;
    step *= 2;
  }
  return lowerBound(values, low, Math.min(to, low + step + 1), limit);
}
