// Draws the critical path on a task stream: a line along its tasks, and a vertical line from each task to the next.
import { type PathLanes, pathLaneAt } from '../model/pathLanes.js';
import type { ColumnGrid } from '../model/streamDetail.js';
import type { TaskLanes } from '../model/taskLanes.js';
import { laneBox } from './drawTasks.js';
import type { Renderer } from './renderer.js';

/** Width of the line, px. */
const LINE = 3;

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
    return top + Math.max(0, height - LINE);
  };
  let [lane, from, before] = [-1, 0, -1];
  renderer.clip(box.left, 0, grid.columns, box.height);
  for (let column = 0; column <= grid.columns; column++) {
    const time = grid.start + (column + 0.5) * grid.perColumn;
    const next = column < grid.columns ? pathLaneAt(path, time) : -1;
    if (next === lane) continue;
    if (lane >= 0) renderer.rect(box.left + from, lineOf(lane), column - from, LINE, color);
    if (next >= 0 && before >= 0 && before !== next) {
      const [y, other] = [lineOf(before), lineOf(next)];
      renderer.rect(box.left + column, Math.min(y, other), 1, Math.abs(y - other) + LINE, color);
    }
    if (next >= 0) before = next;
    lane = next;
    from = column;
  }
  renderer.unclip();
}
