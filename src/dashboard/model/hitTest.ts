// Finds the run under the pointer in a task stream, or the sums per prefix of narrow runs that share its pixel.
import { busySeconds, type ColumnGrid, firstVisible, MIN_WIDTH } from './streamDetail.js';
import { type LaneGroup, lowerBound, type TaskLanes } from './taskLanes.js';

/** Distance in columns at which the nearest run is still hit if no run is under the pointer. */
const REACH = 3;

interface RunHit {
  readonly kind: 'run';
  readonly position: number;
}

export interface DensityHit {
  readonly kind: 'density';
  readonly lane: number;
  /** Range of the column, in seconds since the origin. */
  readonly start: number;
  readonly stop: number;
  readonly runs: number;
  /** Seconds of runs within the column. */
  readonly busy: number;
  /** Sums per prefix, most time first. */
  readonly parts: readonly { readonly prefix: number; readonly runs: number; readonly seconds: number }[];
}

export type Hit = RunHit | DensityHit;

export function hitLane(lanes: TaskLanes, lane: number, grid: ColumnGrid, x: number): Hit | undefined {
  const groups = lanes.lanes[lane] ?? [];
  const time = grid.start + x * grid.perColumn;
  for (const group of groups) {
    const position = firstVisible(lanes, group, time);
    if (position === group.to || lanes.start[position]! > time) continue;
    if (lanes.stop[position]! - lanes.start[position]! >= MIN_WIDTH * grid.perColumn)
      return { kind: 'run', position };
  }
  const column = Math.floor(x);
  const start = grid.start + column * grid.perColumn;
  return (
    sumColumn(lanes, lane, groups, start, start + grid.perColumn) ??
    nearest(lanes, groups, time, REACH * grid.perColumn)
  );
}

function sumColumn(
  lanes: TaskLanes,
  lane: number,
  groups: readonly LaneGroup[],
  start: number,
  stop: number,
): Hit | undefined {
  const parts: { prefix: number; runs: number; seconds: number }[] = [];
  let runs = 0;
  let busy = 0;
  let position = -1;
  for (const group of groups) {
    const from = firstVisible(lanes, group, start);
    const to = lowerBound(lanes.start, from, group.to, stop);
    if (to === from) continue;
    const seconds = busySeconds(lanes, group, start, stop);
    parts.push({ prefix: group.prefix, runs: to - from, seconds });
    runs += to - from;
    busy += seconds;
    position = from;
  }
  if (runs === 0) return undefined;
  if (runs === 1) return { kind: 'run', position };
  parts.sort((a, b) => b.seconds - a.seconds || b.runs - a.runs);
  return { kind: 'density', lane, start, stop, runs, busy, parts };
}

function nearest(
  lanes: TaskLanes,
  groups: readonly LaneGroup[],
  time: number,
  reach: number,
): RunHit | undefined {
  let best: RunHit | undefined;
  let bestDistance = reach;
  for (const group of groups) {
    const after = lowerBound(lanes.start, group.from, group.to, time);
    for (const position of [after - 1, after]) {
      if (position < group.from || position >= group.to) continue;
      const distance = Math.max(lanes.start[position]! - time, time - lanes.stop[position]!);
      if (distance > bestDistance) continue;
      best = { kind: 'run', position };
      bestDistance = distance;
    }
  }
  return best;
}
