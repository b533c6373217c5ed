// The time axis on the screen. If it shows a whole run, long stretches in which nothing ran are folded: the axis has a
// break of fixed width there. All parts between breaks have the same scale.
import type { ProfileModel } from './profileModel.js';
import type { ColumnGrid } from './streamDetail.js';
import { showsAll, snapToPixels, spanOf, type TimeWindow } from './timeView.js';

/** A part without a break. `left` is its first column on the screen. */
export interface AxisPart extends ColumnGrid {
  readonly left: number;
}

export interface AxisBreak extends TimeWindow {
  readonly left: number;
  readonly columns: number;
}

export interface TimeAxis {
  readonly columns: number;
  readonly parts: readonly AxisPart[];
  readonly breaks: readonly AxisBreak[];
}

/** Width of a break, which contains its label, px. */
const BREAK = 80;
/** Width from which a stretch is folded, px. A break of a narrower one would save nearly nothing. */
const MIN_FOLDED = 1.4 * BREAK;

/** Returns the columns of a window without breaks. */
export function gridOf(window: TimeWindow, columns: number): ColumnGrid {
  const { start } = snapToPixels(window, columns);
  return { start, perColumn: spanOf(window) / columns, columns };
}

/** Returns the axis of a window. Only plots that are all task streams are folded. */
export function timeAxis(
  { idle, limits, plots }: Pick<ProfileModel, 'idle' | 'limits' | 'plots'>,
  window: TimeWindow,
  columns: number,
): TimeAxis {
  const perColumn = spanOf(window) / columns;
  const isFolded = showsAll(limits, window) && plots.every(({ type }) => type === 'tasks');
  const folded = isFolded ? idle.filter((stretch) => spanOf(stretch) / perColumn >= MIN_FOLDED) : [];
  if (folded.length === 0) {
    return { columns, parts: [{ ...gridOf(window, columns), left: 0 }], breaks: [] };
  }
  return foldedAxis(folded, window, columns);
}

function foldedAxis(folded: readonly TimeWindow[], window: TimeWindow, columns: number): TimeAxis {
  const hidden = folded.reduce((sum, stretch) => sum + spanOf(stretch), 0);
  const scale = (spanOf(window) - hidden) / (columns - folded.length * BREAK);
  const parts: AxisPart[] = [];
  const breaks: AxisBreak[] = [];
  let [start, shown] = [window.start, 0];
  const addPart = (stop: number): number => {
    const left = Math.round(shown / scale) + breaks.length * BREAK;
    shown += stop - start;
    const end = Math.round(shown / scale) + breaks.length * BREAK;
    const width = Math.max(1, end - left);
    parts.push({ start, perColumn: Math.max(scale, (stop - start) / width), columns: width, left });
    return end;
  };
  for (const stretch of folded) {
    const left = addPart(stretch.start);
    breaks.push({ ...stretch, left, columns: BREAK });
    start = stretch.stop;
  }
  addPart(window.stop);
  return { columns, parts, breaks };
}

/** Returns the part at a column; undefined in a break. */
export function partAt({ parts }: TimeAxis, column: number): AxisPart | undefined {
  if (parts.length === 1) return parts[0];
  return parts.find(({ left, columns }) => column >= left && column < left + columns);
}

/** Returns the time at a column, which need not be whole. */
export function timeAtColumn(axis: TimeAxis, column: number): number {
  const inside = axis.breaks.find(({ left, columns }) => column >= left && column < left + columns);
  if (inside !== undefined) return inside.start + ((column - inside.left) / inside.columns) * spanOf(inside);
  const part = axis.parts.findLast(({ left }) => column >= left) ?? axis.parts[0]!;
  return part.start + (column - part.left) * part.perColumn;
}

/** Returns the column of a time, which need not be whole, and lies outside the screen for times beyond the axis. */
export function columnAtTime(axis: TimeAxis, time: number): number {
  const inside = axis.breaks.find(({ start, stop }) => time > start && time < stop);
  if (inside !== undefined) return inside.left + ((time - inside.start) / spanOf(inside)) * inside.columns;
  const part = axis.parts.findLast(({ start }) => time >= start) ?? axis.parts[0]!;
  const column = (time - part.start) / part.perColumn;
  // The end of a part belongs to it, also if its break begins there.
  return (
    part.left +
    (axis.breaks.length === 0 || part === axis.parts.at(-1) ? column : Math.min(column, part.columns))
  );
}
