// Draws lines over a task stream: the flows of the selected task from its dependencies and to its dependents, and the
// critical path.
import { type FlowEnd, type Flows, type PathLanes, pathLaneAt } from '../model/flows.js';
import type { ColumnGrid } from '../model/streamDetail.js';
import type { TaskLanes } from '../model/taskLanes.js';
import { columnAtTime, type TimeAxis } from '../model/timeAxis.js';
import { laneBox } from './drawTasks.js';
import type { Renderer } from './renderer.js';

/** Straight segments of a curve. */
const PIECES = 14;
/** Height of a line's end as a share of the lane from its top. Labels stand in the middle of a lane. */
const HIGH = 0.22;
/** Width of a line and radius of its dots, px. */
const LINE = 1.5;
const DOT = 2.5;
/** Smallest horizontal swing of a curve, for ends that are close in time, px. */
const MIN_SWING = 14;

export interface FlowColors {
  readonly needs: string;
  readonly neededBy: string;
}

export function drawFlows(
  renderer: Renderer,
  flows: Flows,
  axis: TimeAxis,
  box: { readonly left: number; readonly height: number },
  colors: FlowColors,
): void {
  const x = (time: number): number => box.left + columnAtTime(axis, time);
  const y = ({ lane }: FlowEnd): number => {
    const { top, height } = laneBox(flows.plot.lanes, lane, box.height);
    return top + height * HIGH;
  };
  const draw = (from: FlowEnd, to: FlowEnd, color: string): void => {
    const [x1, y1, x2, y2] = [x(from.stop), y(from), x(to.start), y(to)];
    if (Math.max(x1, x2) < box.left || Math.min(x1, x2) > box.left + axis.columns) return;
    renderer.line(curve(x1, y1, x2, y2), color, LINE);
    renderer.dot(x1, y1, DOT, color);
    renderer.dot(x2, y2, DOT, color);
  };
  renderer.clip(box.left, 0, axis.columns, box.height);
  for (const end of flows.neededBy) draw(flows.task, end, colors.neededBy);
  for (const end of flows.needs) draw(end, flows.task, colors.needs);
  renderer.unclip();
}

/** Returns points of a curve that leaves to the right and arrives from the left. */
function curve(x1: number, y1: number, x2: number, y2: number): number[] {
  const swing = Math.max(MIN_SWING, Math.abs(x2 - x1) / 2);
  const points: number[] = [];
  for (let piece = 0; piece <= PIECES; piece++) {
    const t = piece / PIECES;
    const [a, b, c, d] = [(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2, t ** 3];
    points.push(a * x1 + b * (x1 + swing) + c * (x2 - swing) + d * x2, (a + b) * y1 + (c + d) * y2);
  }
  return points;
}

/** Width of the line, px. */
const PATH_LINE = 3;

/** Cost: one binary search per pixel column, for a path of any length. */
export function drawPath(
  renderer: Renderer,
  lanes: TaskLanes,
  path: PathLanes,
  grid: ColumnGrid,
  box: { readonly left: number; readonly height: number },
  color: string,
): void {
  const lineOf = (lane: number): number => {
    const { top, height } = laneBox(lanes, lane, box.height);
    return top + Math.max(0, height - PATH_LINE);
  };
  let [lane, from, before] = [-1, 0, -1];
  renderer.clip(box.left, 0, grid.columns, box.height);
  for (let column = 0; column <= grid.columns; column++) {
    const time = grid.start + (column + 0.5) * grid.perColumn;
    const next = column < grid.columns ? pathLaneAt(path, time) : -1;
    if (next === lane) continue;
    if (lane >= 0) renderer.rect(box.left + from, lineOf(lane), column - from, PATH_LINE, color);
    if (next >= 0 && before >= 0 && before !== next) {
      const [y, other] = [lineOf(before), lineOf(next)];
      renderer.rect(box.left + column, Math.min(y, other), 1, Math.abs(y - other) + PATH_LINE, color);
    }
    if (next >= 0) before = next;
    lane = next;
    from = column;
  }
  renderer.unclip();
}
