// The tooltip beside the pointer. Keys are shown as text, even if they look like HTML.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { chartAxis } from '../canvas/drawCharts.js';
import { formatBytes, formatCount, formatDuration, formatPercent } from '../model/format.js';
import type { DensityHit } from '../model/hitTest.js';
import { slotColor } from '../model/palette.js';
import type { LinesPlot } from '../model/profileModel.js';
import { lineValue, valueAt } from '../model/series.js';
import { preciseTime, valueLabel } from '../model/ticks.js';
import { spanOf } from '../model/timeView.js';
import type { PageState } from './pageState.js';
import { runDetails } from './runDetails.js';

/** Lines of a list before "and n more". */
const MAX_LINES = 8;
/** Distance from the pointer and from the edge of the page, px. */
const DISTANCE = 14;

export function Tooltip({ state }: { readonly state: PageState }) {
  const box = useRef<HTMLDivElement>(null);
  const hover = state.hover.value;
  useLayoutEffect(() => {
    if (box.current === null || hover === undefined) return;
    const { width, height } = box.current.getBoundingClientRect();
    const right = hover.clientX + DISTANCE;
    const below = hover.clientY + DISTANCE;
    const left = right + width > innerWidth - DISTANCE ? hover.clientX - DISTANCE - width : right;
    const top = below + height > innerHeight - DISTANCE ? hover.clientY - DISTANCE - height : below;
    box.current.style.transform = `translate(${Math.max(4, Math.round(left))}px, ${Math.max(4, Math.round(top))}px)`;
  });
  if (hover === undefined) return null;
  const content = contentOf(state);
  if (content === null) return null;
  return (
    <div ref={box} class="tooltip" role="tooltip">
      {content}
    </div>
  );
}

function contentOf(state: PageState) {
  const hover = state.hover.value;
  const plot = hover === undefined ? undefined : state.model.plots[hover.plot];
  if (hover === undefined || plot === undefined || hover.y < 0) return null;
  if (plot.type === 'tasks') {
    if (hover.hit === undefined) return null;
    if (hover.hit.kind === 'run') return <RunTip state={state} position={hover.hit.position} />;
    return <DensityTip state={state} hit={hover.hit} />;
  }
  const time = preciseTime(hover.time, spanOf(state.window.value));
  if (plot.type === 'resources') {
    const cpu = valueAt(plot.cpu, hover.time);
    const memory = valueAt(plot.memory, hover.time);
    if (cpu === undefined || memory === undefined) return null;
    return (
      <>
        <p class="tip-time">{time}</p>
        <Line name="CPU" value={formatPercent(cpu)} />
        <Line name="Memory" value={formatBytes(memory)} />
      </>
    );
  }
  return <LinesTip state={state} plot={plot} time={hover.time} y={hover.y} label={time} />;
}

interface LineProps {
  readonly name: string;
  readonly value: string;
  readonly color?: string;
  readonly strong?: boolean;
}

function Line({ name, value, color, strong }: LineProps) {
  return (
    <p class={strong === true ? 'tip-line strong' : 'tip-line'}>
      {color === undefined ? null : <span class="swatch" style={{ background: color }} />}
      <span class="name">{name}</span>
      <span class="value">{value}</span>
    </p>
  );
}

function RunTip({ state, position }: { state: PageState; position: number }) {
  const run = runDetails(state.model, position);
  const span = spanOf(state.window.value);
  return (
    <>
      <p class="tip-title">
        <span class="swatch" style={{ background: slotColor(run.prefix.slot, state.scheme.value) }} />
        <b>{run.prefixName}</b>
        {run.prefixName === run.prefix.name ? null : run.prefix.name}
        <span class="value">{formatDuration(run.stop - run.start)}</span>
      </p>
      <p class="code">{run.key}</p>
      {run.text === '' || run.text === run.key ? null : <p class="code muted">{run.text}</p>}
      <Line name="Worker" value={run.worker} />
      {state.model.factsOf?.(run.task).map(({ name, value }) => (
        <Line key={name} name={name} value={value} />
      ))}
      <Line name="Start" value={preciseTime(run.start, span)} />
      <Line name="Stop" value={preciseTime(run.stop, span)} />
    </>
  );
}

function DensityTip({ state, hit }: { state: PageState; hit: DensityHit }) {
  const { rows, rowOfLane } = state.model.stream.lanes;
  return (
    <>
      <p class="tip-title">
        <b>{formatCount(hit.runs)} runs</b>
        <span class="value">in {formatDuration(hit.stop - hit.start)}</span>
      </p>
      {hit.parts.slice(0, MAX_LINES).map((part) => {
        const prefix = state.model.prefixes[part.prefix]!;
        return (
          <Line
            key={part.prefix}
            color={slotColor(prefix.slot, state.scheme.value)}
            name={prefix.name}
            value={`${formatCount(part.runs)} · ${formatDuration(part.seconds)}`}
          />
        );
      })}
      <More count={hit.parts.length - MAX_LINES} />
      <Line name="Worker" value={rows[rowOfLane[hit.lane]!]?.name ?? ''} />
      <Line name="Busy" value={formatPercent((100 * hit.busy) / (hit.stop - hit.start))} />
    </>
  );
}

interface LinesTipProps {
  readonly state: PageState;
  readonly plot: LinesPlot;
  readonly time: number;
  readonly y: number;
  readonly label: string;
}

/** Distance from the pointer at which the nearest line is emphasised, px. */
const NEAR = 12;

function LinesTip({ state, plot, time, y, label }: LinesTipProps) {
  const box = state.boxes.value[state.hover.value?.plot ?? 0];
  const axis = chartAxis({ left: 0, width: 0, height: box?.height ?? 0 }, plot.largest, plot.unit);
  const all = plot.lines.map(({ name, slot, series }, i) => ({
    name,
    slot,
    value: lineValue(series, plot.stacked ? plot.lines[i - 1]?.series : undefined, time),
    distance: Math.abs(axis.y(valueAt(series, time) ?? 0) - y),
  }));
  // There may be any number of prefixes, so the largest are shown.
  const values =
    plot.cache === undefined
      ? all
      : all.filter(({ value = 0 }) => value > 0).sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const nearest = Math.min(NEAR, ...values.map(({ distance }) => distance));
  return (
    <>
      <p class="tip-time">{label}</p>
      {plot.cache !== undefined && values.length === 0 ? <p class="muted">The cache is empty.</p> : null}
      {values.slice(0, MAX_LINES).map(({ name, slot, value, distance }) => (
        <Line
          key={name}
          color={slotColor(slot, state.scheme.value)}
          name={name}
          value={value === undefined ? '–' : valueLabel(value, plot.unit)}
          strong={distance === nearest && distance < NEAR}
        />
      ))}
      <More count={values.length - MAX_LINES} />
    </>
  );
}

function More({ count }: { readonly count: number }) {
  return count > 0 ? <p class="muted">and {formatCount(count)} more</p> : null;
}
