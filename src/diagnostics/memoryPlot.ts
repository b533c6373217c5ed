// Draws memory over time as a self-contained SVG image.
import { escapeHtml, visibleName } from '../base/visibleText.js';

export interface MemorySeries {
  readonly label: string;
  /** Times in seconds since the epoch, or since the first sample if they are aligned. */
  readonly points: readonly { readonly time: number; readonly bytes: number }[];
}

const WIDTH = 860;
const HEIGHT = 380;
const MARGIN = { left: 76, right: 20, top: 16, bottom: 44 };
const LEGEND_LINE = 20;
/** Colours that colour-blind readers can distinguish, on white and on black. */
const COLORS = ['#2f7cac', '#c9722e', '#2c9b6f', '#ca6164', '#7e63c4', '#a38207', '#9d5b88', '#32aabc'];
const UNITS = ['B', 'kiB', 'MiB', 'GiB', 'TiB'];

interface Axes {
  readonly start: number;
  readonly span: number;
  readonly top: number;
  x(time: number): number;
  y(bytes: number): number;
}

/**
 * Returns the text of the image.
 *
 * @param aligned whether times are relative to the first sample of each series
 */
export function memoryPlot(series: readonly MemorySeries[], aligned: boolean): string {
  const axes = axesOf(series);
  const height = HEIGHT + Math.max(1, series.length) * LEGEND_LINE;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Memory over time" font-family="system-ui, sans-serif" font-size="12" fill="currentColor">`,
    ...byteTicks(axes),
    ...timeTicks(axes, aligned),
    ...series.map((each, index) => line(each, axes, index)),
    ...series.map((each, index) => legend(each, index)),
    '</svg>',
    '',
  ].join('\n');
}

function axesOf(series: readonly MemorySeries[]): Axes {
  let start = Number.POSITIVE_INFINITY;
  let stop = Number.NEGATIVE_INFINITY;
  let most = 0;
  for (const { points } of series)
    for (const { time, bytes } of points) {
      start = Math.min(start, time);
      stop = Math.max(stop, time);
      most = Math.max(most, bytes);
    }
  if (!(stop >= start)) [start, stop] = [0, 1];
  const span = Math.max(stop - start, 1e-3);
  const step = byteStep(most);
  const top = Math.max(step, Math.ceil(most / step) * step);
  const width = WIDTH - MARGIN.left - MARGIN.right;
  const height = HEIGHT - MARGIN.top - MARGIN.bottom;
  return {
    start,
    span,
    top,
    x: (time) => MARGIN.left + ((time - start) / span) * width,
    y: (bytes) => MARGIN.top + height - (bytes / top) * height,
  };
}

function byteTicks({ top, y }: Axes): string[] {
  const step = byteStep(top);
  const ticks: string[] = [];
  for (let bytes = 0; bytes <= top * (1 + 1e-9); bytes += step) {
    const at = y(bytes).toFixed(1);
    ticks.push(
      `<path d="M${MARGIN.left} ${at}H${WIDTH - MARGIN.right}" stroke="currentColor" stroke-opacity="0.15"/>`,
      `<text x="${MARGIN.left - 8}" y="${at}" text-anchor="end" dominant-baseline="middle">${bytesText(bytes)}</text>`,
    );
  }
  return ticks;
}

/** Draws seconds since the first sample, and below them the time of that sample, unless the series are aligned. */
function timeTicks({ start, span, x }: Axes, aligned: boolean): string[] {
  const step = niceStep(span / 8);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const bottom = HEIGHT - MARGIN.bottom;
  const ticks: string[] = [];
  for (let count = 0; count * step <= span * (1 + 1e-9); count++) {
    const text = `${(count * step).toFixed(digits)} s`;
    ticks.push(
      `<text x="${x(start + count * step).toFixed(1)}" y="${bottom + 16}" text-anchor="middle">${text}</text>`,
    );
  }
  const caption = aligned
    ? 'since the first sample of each'
    : `since ${new Date(start * 1000).toISOString()}`;
  ticks.push(
    `<text x="${(WIDTH + MARGIN.left) / 2}" y="${bottom + 36}" text-anchor="middle" opacity="0.7">${caption}</text>`,
  );
  return ticks;
}

function line({ points }: MemorySeries, { x, y }: Axes, index: number): string {
  const path = points.map(
    ({ time, bytes }, at) => `${at === 0 ? 'M' : 'L'}${x(time).toFixed(1)} ${y(bytes).toFixed(1)}`,
  );
  return `<path d="${path.join('')}" fill="none" stroke="${colorOf(index)}" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"/>`;
}

function legend({ label, points }: MemorySeries, index: number): string {
  const peak = points.reduce((most, { bytes }) => Math.max(most, bytes), 0);
  const y = HEIGHT + index * LEGEND_LINE + 4;
  return `<rect x="${MARGIN.left}" y="${y - 4}" width="14" height="4" fill="${colorOf(index)}"/><text x="${MARGIN.left + 22}" y="${y + 2}">${escapeHtml(visibleName(label))}, at most ${bytesText(peak)}</text>`;
}

function colorOf(index: number): string {
  return COLORS[index % COLORS.length]!;
}

/** Returns a step of 1, 2 or 5 in the unit of the axis, which gives five to ten ticks. */
function byteStep(most: number): number {
  const unit = 1024 ** unitOf(most);
  return niceStep(Math.max(most, 1) / unit / 8) * unit;
}

function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10) * power;
}

function unitOf(bytes: number): number {
  return Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(bytes, 1)) / 10)));
}

function bytesText(bytes: number): string {
  const unit = unitOf(bytes);
  return `${Number((bytes / 1024 ** unit).toPrecision(3))} ${UNITS[unit]}`;
}
