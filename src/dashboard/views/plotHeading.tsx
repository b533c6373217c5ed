// The heading of each plot: its title, and its values at the time under the pointer, or the peaks without a pointer.

import type { ComponentChildren } from 'preact';
import { sumOf } from '../../base/lookUps.js';
import { countText } from '../../base/words.js';
import { columnsOf, shownOfRun } from '../canvas/stage.js';
import { THEMES } from '../canvas/theme.js';
import { formatBytes, formatCount, formatDuration, formatNumber, formatPercent } from '../model/format.js';
import { slotColor } from '../model/palette.js';
import type { LinesPlot, Plot, ResourcePlot, TaskPlot } from '../model/profileModel.js';
import { lineValue, peakIn, type Series, valueAt } from '../model/series.js';
import { livedSeconds, usedSeconds, visibleRuns } from '../model/streamDetail.js';
import { peakLabel, valueLabel } from '../model/ticks.js';
import { gridOf } from '../model/timeAxis.js';
import { showsAll } from '../model/timeView.js';
import type { PageState } from './pageState.js';

/** Returns the title of a plot, its description for screen readers, and its message if it is empty. */
export function plotSummary(
  state: PageState,
  plot: Plot,
): { title: string; description: string; empty: string | undefined } {
  switch (plot.type) {
    case 'tasks': {
      const { rows } = plot.lanes;
      const count = plot.section.task.length;
      return {
        title: 'Task stream',
        description: `${countText(state.model.taskCount, 'task')} on ${countText(rows.length, 'thread')} over ${formatDuration(state.model.duration)}: a row per thread, a rectangle per task, a colour per prefix`,
        empty:
          count > 0
            ? undefined
            : (state.model.emptyStream ??
              'No task ran while the Profiler was active. Activate it before compute or get: using prof = new Profiler().'),
      };
    }
    case 'resources':
      return {
        title: 'CPU and memory',
        description: `CPU up to ${formatPercent(plot.cpu.largest)}, memory up to ${formatBytes(plot.memory.largest)}`,
        empty:
          plot.cpu.time.length > 0
            ? undefined
            : 'No sample was taken, because the run was shorter than the time step. Use a smaller step: new ResourceProfiler({ dt: 0.1 }).',
      };
    case 'lines':
      return {
        title: plot.title,
        description: `${plot.title} over time: ${plot.lines.map(({ name }) => name).join(', ')}, up to ${valueLabel(plot.largest, plot.unit)}`,
        empty: plot.lines.length > 0 ? undefined : plot.empty,
      };
  }
}

interface Props {
  readonly state: PageState;
  readonly plot: Plot;
  /** Added to the heading of a task stream. */
  readonly streamNote?: ComponentChildren;
}

export function PlotHeading({ state, plot, streamNote }: Props) {
  return (
    <header class="plot-heading">
      <h2>{plotSummary(state, plot).title}</h2>
      {plot.type === 'tasks' ? streamNote : null}
      {plot.type === 'tasks' ? <StreamValues state={state} plot={plot} /> : null}
      {plot.type === 'resources' ? <ResourceValues state={state} plot={plot} /> : null}
      {plot.type === 'lines' ? <LineValues state={state} plot={plot} /> : null}
    </header>
  );
}

const SHARED = 'tasks per pixel; heights show shares of time';

function StreamValues({ state, plot }: { readonly state: PageState; readonly plot: TaskPlot }) {
  const { lanes, rows } = plot.lanes;
  const grid = gridOf(state.window.value, columnsOf(state.width.value));
  const { start: from, stop: to } = shownOfRun(state.model, grid);
  const busy = rows.reduce((sum, row) => sum + usedSeconds(plot.lanes, row, from, to), 0);
  const runs = sumOf(lanes.flat(), (group) => visibleRuns(plot.lanes, group, from, to));
  const perPixel = runs / (grid.columns * Math.max(1, lanes.length));
  const lived = rows.reduce((sum, row) => sum + livedSeconds(row, from, to), 0);
  const share = lived > 0 ? (100 * busy) / lived : 0;
  return (
    <p class="values">
      {perPixel > 1 ? (
        <span class="muted note" title={`${formatNumber(perPixel)} ${SHARED}`}>
          {formatNumber(perPixel)} {SHARED}
        </span>
      ) : null}
      <span class="muted">
        {showsAll(state.model.limits, state.window.value) ? 'Workers busy' : 'Busy in this window'}
      </span>{' '}
      {formatPercent(share)}
    </p>
  );
}

function ResourceValues({ state, plot }: { readonly state: PageState; readonly plot: ResourcePlot }) {
  const theme = THEMES[state.scheme.value];
  const time = state.hover.value?.time;
  const shown = (series: Series) =>
    time === undefined ? peakIn(series, undefined, state.window.value) : valueAt(series, time);
  const [cpu, memory] = [shown(plot.cpu), shown(plot.memory)];
  const peak = time === undefined ? `${peakLabel()} ` : '';
  return (
    <p class="values">
      <span class="key" style={{ background: theme.cpu }} />
      <span class="muted">CPU {peak}</span>
      <b>{cpu === undefined ? '–' : formatPercent(cpu)}</b>
      <span class="key" style={{ background: theme.memory }} />
      <span class="muted">Memory {peak}</span>
      <b>{memory === undefined ? '–' : formatBytes(memory)}</b>
    </p>
  );
}

/** Widths in the heading, px: of a letter, of a value with its colour, of the gap after `peak`, and of `and 3 more`. */
const LETTER = 6.8;
const VALUE = 90;
const GAP = 20;
const MORE = 76;
/** Width of `48 not drawn`. */
const OMITTED = 90;

function fittingLines(plot: LinesPlot, width: number): number {
  const { title, lines } = plot;
  const widths = lines.map(({ name }) => VALUE + name.length * LETTER);
  let available = columnsOf(width) - GAP - (peakLabel(plot.meanOf).length + title.length) * LETTER;
  if (plot.omitted) available -= OMITTED;
  if (widths.reduce((sum, one) => sum + one, 0) <= available) return lines.length;
  available -= MORE;
  const fits = widths.findIndex((one) => {
    available -= one;
    return available < 0;
  });
  return Math.max(1, fits);
}

function LineValues({ state, plot }: { readonly state: PageState; readonly plot: LinesPlot }) {
  const time = state.hover.value?.time;
  const shown = fittingLines(plot, state.width.value);
  return (
    <p class="values">
      {plot.cache === undefined ? null : <span class="muted">{plot.cache.metricName}</span>}
      {time === undefined && plot.lines.length > 0 ? (
        <span class="muted note">{peakLabel(plot.meanOf)}</span>
      ) : null}
      {plot.lines.slice(0, shown).map(({ name, slot, series }, i) => {
        const below = plot.stacked ? plot.lines[i - 1]?.series : undefined;
        const value =
          time === undefined ? peakIn(series, below, state.window.value) : lineValue(series, below, time);
        return (
          <span key={name} class="line-value">
            <span class="key" style={{ background: slotColor(slot, state.scheme.value) }} />
            <span class="muted">{name}</span>
            <b>{value === undefined ? '–' : valueLabel(value, plot.unit)}</b>
          </span>
        );
      })}
      {plot.lines.length > shown ? (
        <span class="muted">and {formatCount(plot.lines.length - shown)} more</span>
      ) : null}
      {(plot.omitted ?? 0) > 0 ? (
        <span class="muted" title="Choose a worker in the table of workers to see its lines">
          {formatCount(plot.omitted ?? 0)} not drawn
        </span>
      ) : null}
    </p>
  );
}
