// Draws all canvases of the page for a given scene. The stage keeps the canvases, and values that are expensive to
// compute for every animation frame.

import type { CriticalPath } from '../../analysis/criticalPath.js';
import { getOrMake, oncePer } from '../../base/lookUps.js';
import { type Flows, type PathLanes, pathLanes } from '../model/flows.js';
import { formatPercent, shortNames } from '../model/format.js';
import {
  LEFT_GUTTER,
  OVERVIEW_HEIGHT,
  type PlotBox,
  RIGHT_GUTTER,
  RULER_HEIGHT,
} from '../model/pageLayout.js';
import type { ProfileModel, TaskPlot } from '../model/profileModel.js';
import type { Matches } from '../model/search.js';
import { type ColumnGrid, livedSeconds, usedSeconds } from '../model/streamDetail.js';
import { type TaskLanes, totalHeight } from '../model/taskLanes.js';
import { columnAtTime, gridOf, type TimeAxis, timeAxis } from '../model/timeAxis.js';
import type { TimeWindow } from '../model/timeView.js';
import { drawLines, drawResources, type PlotArea } from './drawCharts.js';
import { drawFlows, drawPath } from './drawFlows.js';
import { axisTicks, drawBreaks, drawOverview, drawRuler, overviewShares } from './drawOverview.js';
import { drawStream } from './drawTasks.js';
import { CanvasRenderer, fitText, type Renderer } from './renderer.js';
import type { Theme } from './theme.js';

/** Content of one animation frame. */
export interface Scene {
  readonly model: ProfileModel;
  readonly window: TimeWindow;
  /** Width of the plots with their gutters, px. */
  readonly width: number;
  readonly boxes: readonly PlotBox[];
  readonly theme: Theme;
  readonly emphasis: ReadonlySet<number> | undefined;
  /** Path to draw over the task streams. */
  readonly path: CriticalPath | undefined;
  readonly matches: Matches | undefined;
  readonly flows: Flows | undefined;
}

/** Returns the number of pixel columns between the gutters, at least 1. */
export function columnsOf(width: number): number {
  return Math.max(1, Math.floor(width - LEFT_GUTTER - RIGHT_GUTTER));
}

/** Returns the time axis of a window, folded if it shows the whole run. */
export function axisOf(model: ProfileModel, window: TimeWindow, width: number): TimeAxis {
  return timeAxis(model, window, columnsOf(width));
}

/** Returns the part of the run that the grid shows, in seconds since the origin. */
export function shownOfRun({ run }: ProfileModel, grid: ColumnGrid): TimeWindow {
  return {
    start: Math.max(run.start, grid.start),
    stop: Math.min(run.stop, grid.start + grid.columns * grid.perColumn),
  };
}

const namesOf = oncePer(({ rows }: TaskLanes) => shortNames(rows.map(({ name }) => name)));
const pathsOn = oncePer((_plot: TaskPlot) => new WeakMap<CriticalPath, PathLanes>());

export class Stage {
  #busyModel: ProfileModel | undefined;
  #overview: CanvasRenderer | undefined;
  #ruler: CanvasRenderer | undefined;
  readonly #plots: (CanvasRenderer | undefined)[] = [];
  #busy: Float32Array = new Float32Array(0);
  /** Number of rectangles in the task stream of the last animation frame. */
  rectangles = 0;

  setStrip(overview: HTMLCanvasElement, ruler: HTMLCanvasElement): void {
    this.#overview = new CanvasRenderer(overview);
    this.#ruler = new CanvasRenderer(ruler);
  }

  setPlot(index: number, canvas: HTMLCanvasElement): void {
    this.#plots[index] = new CanvasRenderer(canvas);
  }

  draw(scene: Scene): void {
    const { model, theme } = scene;
    const grid = gridOf(scene.window, columnsOf(scene.width));
    const axis = axisOf(model, scene.window, scene.width);
    const ticks = axisTicks(axis);
    this.#drawStrip(scene, axis, ticks);
    this.rectangles = 0;
    model.plots.forEach((plot, index) => {
      const renderer = this.#plots[index];
      const box = scene.boxes[index];
      if (renderer === undefined || box === undefined) return;
      const area: PlotArea = { left: LEFT_GUTTER, width: grid.columns, height: box.height };
      renderer.begin(scene.width, box.height);
      if (plot.type === 'tasks') this.#drawLaneGround(renderer, plot, shownOfRun(model, grid), area, theme);
      for (const { x } of ticks) renderer.rect(area.left + x, 0, 1, area.height, theme.grid);
      if (plot.type === 'tasks') {
        const path =
          scene.path &&
          getOrMake(pathsOn(plot), scene.path, () => pathLanes(scene.path!, plot, model.origin));
        drawBreaks(renderer, axis, area, theme);
        for (const part of axis.parts) {
          const box = { left: area.left + part.left, height: area.height };
          drawStream(renderer, model, plot, part, box, {
            theme,
            emphasis: scene.emphasis,
            matches: scene.matches?.lanes,
          });
          if (path !== undefined) drawPath(renderer, plot.lanes, path, part, box, theme.ink);
        }
        if (scene.flows?.plot === plot) drawFlows(renderer, scene.flows, axis, area, theme);
        this.rectangles += renderer.rectangles;
      } else if (plot.type === 'resources') drawResources({ renderer, grid, area, theme }, plot);
      else drawLines({ renderer, grid, area, theme }, plot, scene.emphasis);
    });
  }

  #drawStrip(scene: Scene, axis: TimeAxis, ticks: Parameters<typeof drawRuler>[1]): void {
    if (this.#overview === undefined || this.#ruler === undefined) return;
    const { model } = scene;
    const { columns } = axis;
    const whole = axisOf(model, model.limits, scene.width);
    if (this.#busy.length !== columns || this.#busyModel !== model) {
      this.#busyModel = model;
      this.#busy = new Float32Array(columns);
      for (const part of whole.parts)
        this.#busy.set(overviewShares(model, part).subarray(0, columns - part.left), part.left);
    }
    const fraction = (time: number) => columnAtTime(whole, time) / columns;
    const shown = { start: fraction(scene.window.start), stop: fraction(scene.window.stop) };
    const area = { left: LEFT_GUTTER, width: columns };
    this.#overview.begin(scene.width, OVERVIEW_HEIGHT);
    const overviewArea = { ...area, height: OVERVIEW_HEIGHT };
    drawOverview(this.#overview, this.#busy, overviewArea, shown, scene.theme);
    this.#ruler.begin(scene.width, RULER_HEIGHT);
    drawRuler(this.#ruler, ticks, axis.breaks, { ...area, height: RULER_HEIGHT }, scene.theme);
  }

  /** Draws empty lanes, worker names on the left, and the busy share of each worker in this window on the right. */
  #drawLaneGround(renderer: Renderer, plot: TaskPlot, shown: TimeWindow, area: PlotArea, theme: Theme): void {
    const { rows } = plot.lanes;
    const unit = area.height / totalHeight(plot.lanes);
    const { edges } = plot.lanes;
    const { start: from, stop: to } = shown;
    let labelledTo = Number.NEGATIVE_INFINITY;
    const names = namesOf(plot.lanes);
    for (const [at, row] of rows.entries()) {
      const top = edges[row.firstLane]! * unit;
      const height = edges[row.firstLane + row.laneCount]! * unit - top;
      const between = Math.min(4, unit * 0.18);
      renderer.rect(area.left, top + between / 2, area.width, height - between, theme.lane);
      const middle = Math.min(area.height - 6, Math.max(6, top + height / 2));
      // If rows are lower than a line of text, only every n-th row is labelled.
      if (middle - labelledTo < 13) continue;
      labelledTo = middle;
      const name = fitText(renderer, names[at]!, LEFT_GUTTER - 18, 'end');
      renderer.text(name, area.left - 10, middle, theme.ink, 'right');
      const busy = usedSeconds(plot.lanes, row, from, to);
      const lived = livedSeconds(row, from, to);
      if (lived === 0) continue;
      const share = Math.min(100 * Math.max(1, row.laneCount), (100 * busy) / lived);
      renderer.text(formatPercent(share), area.left + area.width + 10, middle, theme.muted, 'left');
    }
  }
}
