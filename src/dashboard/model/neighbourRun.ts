// Keyboard steps to the previous or next task of the same thread. Tasks are ordered by start, then by position.
import { type LaneGroup, type LaneRow, laneOfPosition, lowerBound, type TaskLanes } from './taskLanes.js';

/** Returns the previous (-1) or next (1) task of the same thread; undefined at the end. Activities are skipped. */
export function neighbourRun(lanes: TaskLanes, position: number, direction: 1 | -1): number | undefined {
  const row = lanes.rows[lanes.rowOfLane[laneOfPosition(lanes, position)] ?? -1];
  return row === undefined ? undefined : nearest(lanes, row, lanes.start[position]!, position, direction);
}

/** Returns the first (1) or last (-1) task that starts in a range of time, on the first thread that has one. */
export function firstRun(
  lanes: TaskLanes,
  { start, stop }: { readonly start: number; readonly stop: number },
  direction: 1 | -1,
): number | undefined {
  for (const row of lanes.rows) {
    const [from, beyond] = direction === 1 ? [start, -1] : [stop, Number.POSITIVE_INFINITY];
    const found = nearest(lanes, row, from, beyond, direction);
    if (found !== undefined && lanes.start[found]! >= start && lanes.start[found]! <= stop) return found;
  }
  return undefined;
}

/** Returns the first task of a row after (time, position), or the last one before. */
function nearest(
  lanes: TaskLanes,
  { firstLane, laneCount }: LaneRow,
  time: number,
  position: number,
  direction: 1 | -1,
): number | undefined {
  let best: number | undefined;
  for (const group of lanes.lanes.slice(firstLane, firstLane + laneCount).flat()) {
    const found = group.isActivity ? undefined : inGroup(lanes, group, time, position, direction);
    if (found === undefined) continue;
    const nearer = best === undefined ? -1 : lanes.start[found]! - lanes.start[best]! || found - best;
    if (nearer * direction < 0 || best === undefined) best = found;
  }
  return best;
}

function inGroup(
  { start }: TaskLanes,
  { from, to }: LaneGroup,
  time: number,
  position: number,
  direction: 1 | -1,
): number | undefined {
  let at = lowerBound(start, from, to, time);
  const isBefore = (one: number): boolean => start[one] === time && one < position;
  while (at < to && (isBefore(at) || (direction === 1 && at === position))) at++;
  const found = direction === 1 ? at : at - 1;
  return found >= from && found < to ? found : undefined;
}
