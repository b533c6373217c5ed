// Lines over a task stream from the tasks whose results the chosen one needed, and to those that needed its own.
import type { FlowEnd, Flows } from '../model/flows.js';
import type { ColumnGrid } from '../model/streamDetail.js';
import { laneBox } from './drawTasks.js';
import type { Renderer } from './renderer.js';

/** Straight pieces of a curve. */
const PIECES = 14;
/** Share of a lane above the end of a line: names stand in its middle. */
const HIGH = 0.22;
/** px. */
const LINE = 1.5;
const DOT = 2.5;
/** How far a curve swings out where there is hardly any time between its ends, px. */
const MIN_SWING = 14;

export interface FlowColors {
  readonly needs: string;
  readonly neededBy: string;
}

export function drawFlows(
  renderer: Renderer,
  flows: Flows,
  grid: ColumnGrid,
  box: { readonly left: number; readonly height: number },
  colors: FlowColors,
): void {
  const x = (time: number): number => box.left + (time - grid.start) / grid.perColumn;
  const y = ({ lane }: FlowEnd): number => {
    const { top, height } = laneBox(flows.plot.lanes, lane, box.height);
    return top + height * HIGH;
  };
  const draw = (from: FlowEnd, to: FlowEnd, color: string): void => {
    const [x1, y1, x2, y2] = [x(from.stop), y(from), x(to.start), y(to)];
    if (Math.max(x1, x2) < box.left || Math.min(x1, x2) > box.left + grid.columns) return;
    renderer.line(curve(x1, y1, x2, y2), color, LINE);
    renderer.dot(x1, y1, DOT, color);
    renderer.dot(x2, y2, DOT, color);
  };
  renderer.clip(box.left, 0, grid.columns, box.height);
  for (const end of flows.neededBy) draw(flows.task, end, colors.neededBy);
  for (const end of flows.needs) draw(end, flows.task, colors.needs);
  renderer.unclip();
}

/** Leaves to the right and arrives from the left. */
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
