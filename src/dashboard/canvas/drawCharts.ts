// Draws line plots with their horizontal value lines and the labels in the gutters.
import { mix, slotColor } from '../model/palette.js';
import type { LinesPlot, PlotLine, ResourcePlot } from '../model/profileModel.js';
import { columnRanges, isDense, linePoints, type Series } from '../model/series.js';
import type { ColumnGrid } from '../model/streamDetail.js';
import { type AxisUnit, alignedAxis, type Tick, valueAxis } from '../model/ticks.js';
import type { Renderer } from './renderer.js';
import type { Theme } from './theme.js';

/** The part of a canvas between the gutters. */
export interface PlotArea {
  readonly left: number;
  readonly width: number;
  readonly height: number;
}

/** Space above the highest and below the lowest value, for half a line of text, px. */
const PADDING = 8;
/** Approximate distance between labels of a value axis, px. */
const LABEL_SPACING = 34;
/** Labels of an axis, even of a very high chart. */
const MAX_LABELS = 6;
/** Distance from which samples are also drawn as dots, px. */
const DOT_SPACING = 18;

interface Axis {
  readonly ticks: readonly Tick[];
  readonly y: (value: number) => number;
}

/** Returns an axis from 0 to at least `largest` over the height of the area. */
export function chartAxis(area: PlotArea, largest: number, unit: AxisUnit): Axis {
  const most = Math.min(MAX_LABELS, Math.max(1, Math.floor((area.height - 2 * PADDING) / LABEL_SPACING)));
  return onArea(area, valueAxis(largest, unit, most));
}

function onArea(area: PlotArea, { top, ticks }: { top: number; ticks: readonly Tick[] }): Axis {
  const height = area.height - 2 * PADDING;
  return { ticks, y: (value) => PADDING + height * (1 - value / top) };
}

/** Where and how a plot is drawn. */
export interface Chart {
  readonly renderer: Renderer;
  readonly grid: ColumnGrid;
  readonly area: PlotArea;
  readonly theme: Theme;
}

export function drawResources(chart: Chart, plot: ResourcePlot): void {
  const { renderer, area, theme } = chart;
  const cpu = chartAxis(area, plot.cpu.largest, 'percent');
  const memory = onArea(area, alignedAxis(plot.memory.largest, 'bytes', cpu.ticks.length - 1));
  drawAxis(chart, cpu, theme.cpu);
  for (const { value, label } of memory.ticks) {
    renderer.text(label, area.left + area.width + 10, memory.y(value), theme.memory, 'left');
  }
  renderer.clip(area.left, 0, area.width, area.height);
  drawSeries(chart, plot.cpu, cpu, { color: theme.cpu, width: 1.5, surface: theme.cpuArea });
  drawSeries(chart, plot.memory, memory, { color: theme.memory, width: 1.5 });
  drawDots(chart, plot.cpu, cpu, theme.cpu);
  drawDots(chart, plot.memory, memory, theme.memory);
  renderer.unclip();
}

function drawAxis({ renderer, area, theme }: Chart, { ticks, y }: Axis, color: string): void {
  for (const { value, label } of ticks) {
    renderer.rect(area.left, y(value), area.width, 1, theme.grid);
    renderer.text(label, area.left - 10, y(value), color, 'right');
  }
}

/** Draws lines from 0, or stacked surfaces. Lines of prefixes outside `emphasis` are faint. */
export function drawLines(chart: Chart, plot: LinesPlot, emphasis: ReadonlySet<number> | undefined): void {
  if (plot.lines.length === 0) return;
  const { renderer, area, theme } = chart;
  const axis = chartAxis(area, plot.largest, plot.unit);
  drawAxis(chart, axis, theme.muted);
  renderer.clip(area.left, 0, area.width, area.height);
  const isFaint = ({ prefix }: PlotLine) => prefix !== undefined && emphasis?.has(prefix) === false;
  // The highest surface is drawn first, because lower surfaces cover it. Faint lines are drawn below the others.
  const lines = plot.stacked
    ? [...plot.lines].reverse()
    : [...plot.lines].sort((a, b) => Number(isFaint(b)) - Number(isFaint(a)));
  for (const line of lines) {
    const color = slotColor(line.slot, theme.scheme);
    const shown = isFaint(line) ? mix(color, theme.ground, 0.32) : color;
    const isBold = line.prefix !== undefined && emphasis?.has(line.prefix) === true;
    const style = plot.stacked
      ? { color, width: 1, surface: mix(color, theme.ground, 0.7) }
      : { color: shown, width: isBold ? 2.5 : 1.75 };
    drawSeries(chart, line.series, axis, style);
  }
  renderer.unclip();
}

interface LineStyle {
  readonly color: string;
  readonly width: number;
  readonly surface?: string;
}

function drawSeries(chart: Chart, series: Series, axis: Axis, style: LineStyle): void {
  const { renderer, grid, area } = chart;
  if (isDense(series, grid)) {
    drawRanges(chart, columnRanges(series, grid), axis, style);
    return;
  }
  const points = toScreen(linePoints(series, grid), area, axis);
  if (style.surface !== undefined) renderer.area(points, axis.y(0), style.surface);
  renderer.line(points, style.color, style.width);
}

/** Draws a dense line as one rectangle per column, because a stroke with thousands of turns takes a whole animation frame. */
function drawRanges(
  { renderer, area }: Chart,
  { low, high }: ReturnType<typeof columnRanges>,
  axis: Axis,
  style: LineStyle,
): void {
  let from = 0;
  for (let column = 1; column <= low.length; column++) {
    // Equal columns become one rectangle. NaN is unequal to itself and skipped.
    if (column < low.length && low[column] === low[from] && high[column] === high[from]) continue;
    const top = axis.y(high[from]!) - style.width / 2;
    const bottom = axis.y(low[from]!) + style.width / 2;
    if (bottom >= top) {
      const base = axis.y(0);
      if (style.surface !== undefined)
        renderer.rect(area.left + from, top, column - from, base - top, style.surface);
      renderer.rect(area.left + from, top, column - from, bottom - top, style.color);
    }
    from = column;
  }
}

function toScreen(points: number[], area: PlotArea, axis: Axis): number[] {
  for (let i = 0; i < points.length; i += 2) {
    points[i] = area.left + points[i]!;
    points[i + 1] = axis.y(points[i + 1]!);
  }
  return points;
}

/** Draws the samples of a line as dots if they are sparse, e.g. with a dt of 1 s in a run of 5 s. */
function drawDots({ renderer, grid, area }: Chart, { time, value }: Series, axis: Axis, color: string): void {
  const span = grid.columns * grid.perColumn;
  const spacing =
    time.length < 2 ? DOT_SPACING : (time[time.length - 1]! - time[0]!) / (time.length - 1) / grid.perColumn;
  if (spacing < DOT_SPACING) return;
  for (let i = 0; i < time.length; i++) {
    if (time[i]! < grid.start || time[i]! > grid.start + span) continue;
    renderer.dot(area.left + (time[i]! - grid.start) / grid.perColumn, axis.y(value[i]!), 2.5, color);
  }
}
