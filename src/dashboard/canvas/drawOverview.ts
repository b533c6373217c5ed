// Draws the strip above the plots: an overview of the whole run with the visible window, and the time axis.
import { TimeBins } from '../../analysis/timeBins.js';
import type { ProfileModel, TaskPlot } from '../model/profileModel.js';
import { columnRanges } from '../model/series.js';
import type { ColumnGrid } from '../model/streamDetail.js';
import { idleLabel, type Tick, timeTicks } from '../model/ticks.js';
import type { AxisBreak, TimeAxis } from '../model/timeAxis.js';
import type { TimeWindow } from '../model/timeView.js';
import type { PlotArea } from './drawCharts.js';
import type { Renderer } from './renderer.js';
import type { Theme } from './theme.js';

/**
 * Returns the height of the overview by column, 0 to 1. The height is the busy share of the threads whose worker existed. A
 * page without a task stream shows the highest line of its first plot.
 */
export function overviewShares(model: ProfileModel, grid: ColumnGrid): Float32Array {
  if (model.plots.includes(model.stream)) return busyShares(model.stream, grid);
  const plot = model.plots[0];
  const lines =
    plot === undefined || plot.type === 'tasks'
      ? []
      : plot.type === 'resources'
        ? [plot.cpu]
        : plot.lines.map(({ series }) => series);
  const largest = lines.reduce((most, series) => Math.max(most, series.largest), 0);
  const shares = new Float32Array(grid.columns);
  for (const series of largest > 0 ? lines : []) {
    for (const [column, value] of columnRanges(series, grid).high.entries())
      if (value > 0) shares[column] = Math.max(shares[column]!, value / largest);
  }
  return shares;
}

/** Cost: one step per run and row. */
function busyShares({ lanes }: TaskPlot, { start, perColumn, columns }: ColumnGrid): Float32Array {
  const bins = (): TimeBins => new TimeBins(start, start + columns * perColumn, columns);
  const [used, existing] = [bins(), bins()];
  for (const { life, partial } of lanes.rows) {
    existing.add(life.start, life.stop);
    for (const use of partial) used.add(use.start, use.stop, use.share);
  }
  for (const { isActivity, from, to } of lanes.lanes.flat())
    for (let at = from; at < to && !isActivity; at++) used.add(lanes.start[at]!, lanes.stop[at]!);
  const threads = existing.means();
  return Float32Array.from(used.means(), (busy, column) =>
    threads[column]! > 0 ? Math.min(1, busy / threads[column]!) : 0,
  );
}

/** Draws the overview. `shown` is the visible window as fractions of the whole. */
export function drawOverview(
  renderer: Renderer,
  shares: Float32Array,
  area: PlotArea,
  shown: TimeWindow,
  theme: Theme,
): void {
  const base = area.height - 1;
  const height = area.height - 6;
  const points: number[] = [];
  for (let column = 0; column < shares.length; column++) {
    const y = base - height * shares[column]!;
    points.push(area.left + column, y, area.left + column + 1, y);
  }
  renderer.area(points, base, theme.overview);
  renderer.rect(area.left, base, area.width, 1, theme.axis);
  const from = area.left + shown.start * area.width;
  const to = area.left + shown.stop * area.width;
  if (shown.stop - shown.start > 0.9995) return;
  // A veil covers the overview outside the window. The window has edges that can be dragged.
  const veil = theme.scheme === 'light' ? 'rgba(255, 255, 255, 0.66)' : 'rgba(20, 23, 28, 0.66)';
  renderer.rect(area.left, 0, from - area.left, area.height, veil);
  renderer.rect(to, 0, area.left + area.width - to, area.height, veil);
  const width = Math.max(2, to - from);
  renderer.rect(from, 0, width, 2, theme.accent);
  renderer.rect(from, base, width, 1, theme.accent);
  renderer.rect(from - 1, 0, 2, area.height, theme.accent);
  renderer.rect(from + width - 1, 0, 2, area.height, theme.accent);
}

/** Distance of a label of the ruler from a break, px. */
const FROM_BREAK = 26;

/** Returns the ticks of all parts of an axis with their columns, without those whose labels would reach into a break. */
export function axisTicks({ parts, breaks }: TimeAxis): (Tick & { readonly x: number })[] {
  return parts
    .flatMap((part) =>
      timeTicks(part.start, part.start + part.columns * part.perColumn, part.columns).map((tick) => ({
        ...tick,
        x: part.left + (tick.value - part.start) / part.perColumn,
      })),
    )
    .filter(({ x }) =>
      breaks.every(({ left, columns }) => x < left - FROM_BREAK || x > left + columns + FROM_BREAK),
    );
}

/** Length of a dash and of the space after it, px. */
const DASH = 4;

/** Draws the breaks of the axis over the empty lanes of a plot. */
export function drawBreaks(renderer: Renderer, { breaks }: TimeAxis, area: PlotArea, theme: Theme): void {
  for (const { left, columns } of breaks) {
    renderer.rect(area.left + left, 0, columns, area.height, theme.ground);
    for (const x of [area.left + left, area.left + left + columns - 1])
      for (let y = 0; y < area.height; y += 2 * DASH) renderer.rect(x, y, 1, DASH, theme.axis);
  }
}

export function drawRuler(
  renderer: Renderer,
  ticks: readonly (Tick & { readonly x: number })[],
  breaks: readonly AxisBreak[],
  area: PlotArea,
  theme: Theme,
): void {
  renderer.rect(area.left, area.height - 1, area.width, 1, theme.axis);
  for (const stretch of breaks) {
    const { left, columns } = stretch;
    renderer.rect(area.left + left, area.height - 1, columns, 1, theme.ground);
    renderer.text(
      `… ${idleLabel(stretch)}`,
      area.left + left + columns / 2,
      area.height / 2 - 3,
      theme.muted,
      'center',
    );
  }
  for (const { x, label } of ticks) {
    renderer.rect(area.left + x, area.height - 6, 1, 6, theme.axis);
    const half = renderer.textWidth(label) / 2;
    const centre = Math.min(area.left + area.width - half, Math.max(area.left + half, area.left + x));
    renderer.text(label, centre, area.height / 2 - 3, theme.muted, 'center');
  }
}
