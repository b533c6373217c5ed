// Draws the task stream. Each lane has rectangles for wide runs, and then columns of density for narrow runs. In a
// column, the height of a colour is the share of the pixel's time in which its prefix ran.
import { mix, slotColor, textOn } from '../model/palette.js';
import type { PrefixInfo, ProfileModel, TaskPlot } from '../model/profileModel.js';
import type { LaneMatches } from '../model/search.js';
import { type ColumnGrid, layoutGroup } from '../model/streamDetail.js';
import { type LaneGroup, lowerBound, type TaskLanes, totalHeight } from '../model/taskLanes.js';
import { fitText, type Renderer } from './renderer.js';
import type { Theme } from './theme.js';

/** Gap between neighbouring runs that are wide enough for a gap, px. */
const RUN_GAP = 1;
/** Smallest height of the first prefix in a pixel column, and of every other prefix, px. */
const MIN_MARK = 3;
const MIN_NEXT_MARK = 1;
/** Narrowest rectangle with a label, px. */
const MIN_LABEL = 24;

export interface StreamStyle {
  readonly theme: Theme;
  /** Prefixes in full colour; undefined for all. */
  readonly emphasis: ReadonlySet<number> | undefined;
  /** Lane → matching positions; undefined without a search. */
  readonly matches: readonly LaneMatches[] | undefined;
}

/** Returns top and height of a lane, px from the top of the stream. */
export function laneBox(lanes: TaskLanes, lane: number, height: number): { top: number; height: number } {
  const unit = height / totalHeight(lanes);
  const top = lanes.edges[lane]! * unit;
  const each = lanes.edges[lane + 1]! * unit - top;
  const row = lanes.rows[lanes.rowOfLane[lane]!]!;
  const between = Math.min(4, each * 0.18);
  const within = Math.min(1, each * 0.1);
  const first = lane === row.firstLane ? between : within;
  const last = lane === row.firstLane + row.laneCount - 1 ? between : within;
  return { top: top + first / 2, height: each - (first + last) / 2 };
}

/** Returns the lane at a height, or -1. */
export function laneAt(lanes: TaskLanes, y: number, height: number): number {
  const at = (y / height) * totalHeight(lanes);
  const lane = lowerBound(lanes.edges, 0, lanes.edges.length, at + Number.EPSILON) - 1;
  return at >= 0 && lane < lanes.lanes.length ? Math.max(lane, 0) : -1;
}

/** Draws the stream to the right of `box.left`, one column of the grid per pixel. */
export function drawStream(
  renderer: Renderer,
  model: ProfileModel,
  plot: TaskPlot,
  grid: ColumnGrid,
  box: { readonly left: number; readonly height: number },
  style: StreamStyle,
): void {
  const { lanes } = plot;
  const painter = new LanePainter(renderer, lanes, grid, box.left);
  renderer.clip(box.left, 0, grid.columns, box.height);
  for (let lane = 0; lane < lanes.lanes.length; lane++) {
    const { top, height } = laneBox(lanes, lane, box.height);
    painter.beginLane(top, height);
    for (const group of plot.stacked[lane]!) {
      const prefix = model.prefixes[group.prefix]!;
      const full = style.matches === undefined && (style.emphasis?.has(group.prefix) ?? true);
      const color = slotColor(prefix.slot, style.theme.scheme);
      painter.drawGroup(group, full ? color : mix(color, style.theme.ground, 0.26), full ? prefix.name : '');
    }
    painter.endLane();
    if (style.matches !== undefined) {
      const found = style.matches[lane];
      const prefixOf = (position: number) => {
        return model.prefixes[model.page.tasks.prefix[plot.section.task[lanes.entry[position]!]!]!]!;
      };
      if (found !== undefined) painter.drawMatches(found, prefixOf, style.theme);
    }
  }
  renderer.unclip();
}

class LanePainter {
  readonly #renderer: Renderer;
  readonly #lanes: TaskLanes;
  readonly #grid: ColumnGrid;
  readonly #left: number;
  #top = 0;
  #height = 0;
  /** Column → share of its height that previous groups fill. */
  readonly #filled: Float32Array;
  /** Density of each group as column, seconds, column, seconds, …; drawn after all rectangles of the lane. */
  #density: { color: string; values: number[] }[] = [];

  constructor(renderer: Renderer, lanes: TaskLanes, grid: ColumnGrid, left: number) {
    this.#renderer = renderer;
    this.#lanes = lanes;
    this.#grid = grid;
    this.#left = left;
    this.#filled = new Float32Array(grid.columns);
  }

  beginLane(top: number, height: number): void {
    this.#top = top;
    this.#height = height;
    this.#filled.fill(0);
    this.#density = [];
  }

  drawGroup(group: LaneGroup, color: string, label: string): void {
    const values: number[] = [];
    const ink = textOn(color);
    layoutGroup(this.#lanes, group, this.#grid, {
      run: (_position, from, to) => this.#drawRun(from, to, color, label, ink),
      density: (column, seconds) => {
        const last = values.length - 2;
        // A run that extends from the previous column is reported apart from the runs that start in this column.
        if (last >= 0 && values[last] === column) values[last + 1] = values[last + 1]! + seconds;
        else values.push(column, seconds);
      },
    });
    if (values.length > 0) this.#density.push({ color, values });
  }

  #drawRun(from: number, to: number, color: string, label: string, ink: string): void {
    const left = Math.max(-2, from);
    const width = Math.min(this.#grid.columns + 2, to) - left;
    const gap = width >= 4 ? RUN_GAP : 0;
    this.#renderer.rect(this.#left + left, this.#top, width - gap, this.#height, color);
    if (label === '' || width < MIN_LABEL || this.#height < 13) return;
    const visible = Math.max(0, left);
    const space = Math.min(this.#grid.columns, left + width) - visible - 8;
    const text = fitText(this.#renderer, label, space);
    if (text === '') return;
    this.#renderer.text(text, this.#left + visible + 4, this.#top + this.#height / 2 + 0.5, ink, 'left');
  }

  endLane(): void {
    for (const { color, values } of this.#density) this.#drawDensity(color, values);
  }

  /** Stacks one group onto the columns. Equal neighbours become one rectangle, so a busy lane has few rectangles. */
  #drawDensity(color: string, values: readonly number[]): void {
    const { pixel } = this.#renderer;
    let from = 0;
    let to = 0;
    let low = 0;
    let high = 0;
    const flush = () => {
      if (to === from) return;
      const bottom = this.#top + this.#height;
      this.#renderer.rect(this.#left + from, bottom - high, to - from, high - low, color);
    };
    for (let i = 0; i < values.length; i += 2) {
      const column = values[i]!;
      const mark = this.#filled[column] === 0 ? MIN_MARK : MIN_NEXT_MARK;
      const least = Math.min(1, mark / this.#height);
      const share = Math.max(least, values[i + 1]! / this.#grid.perColumn);
      const base = Math.min(this.#filled[column]!, 1 - least);
      const top = Math.min(1, base + share);
      this.#filled[column] = top;
      // Adjacent columns of almost the same height get the same edges when rounded to device pixels, so that one
      // rectangle covers them.
      const newLow = Math.round((base * this.#height) / pixel) * pixel;
      const newHigh = top > 0.98 ? this.#height : Math.round((top * this.#height) / pixel) * pixel;
      if (column === to && newLow === low && newHigh === high) {
        to++;
        continue;
      }
      flush();
      from = column;
      to = column + 1;
      low = newLow;
      high = newHigh;
    }
    flush();
  }

  /** Draws matching runs at full height and at least 2 px wide, at most one per pixel. */
  drawMatches(
    { positions, starts }: LaneMatches,
    prefixOf: (position: number) => PrefixInfo,
    theme: Theme,
  ): void {
    const { stop } = this.#lanes;
    const { perColumn, columns } = this.#grid;
    const end = this.#grid.start + columns * perColumn;
    // Runs of a lane do not overlap, so only the last run before the window can extend into it.
    let i = Math.max(0, lowerBound(starts, 0, starts.length, this.#grid.start) - 1);
    while (i < positions.length && starts[i]! < end) {
      const position = positions[i]!;
      const from = (starts[i]! - this.#grid.start) / perColumn;
      const to = (stop[position]! - this.#grid.start) / perColumn;
      if (to >= 0) {
        const prefix = prefixOf(position);
        const color = slotColor(prefix.slot, theme.scheme);
        this.#drawRun(from, Math.max(to, from + 2), color, prefix.name, textOn(color));
      }
      const next = this.#grid.start + (Math.floor(from) + 1) * perColumn;
      i = Math.max(i + 1, lowerBound(starts, i + 1, starts.length, next));
    }
  }
}
