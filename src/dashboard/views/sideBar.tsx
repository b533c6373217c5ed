// The side bar to the right of the plots: the legend, figures of samples, and the selected task.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { countText } from '../../base/words.js';
import { formatBytes, formatClock, formatCount, formatDuration, formatNumber } from '../model/format.js';
import { slotColor } from '../model/palette.js';
import { preciseTime } from '../model/ticks.js';
import { Legend } from './legend.js';
import type { PageState } from './pageState.js';
import { Button, set } from './parts.js';
import { cacheStays, type RunDetails, runDetails } from './runDetails.js';

interface SideBarProps {
  readonly state: PageState;
  /** Returns more details of the selected task, by row of the page's task table. */
  readonly more: (task: number) => ComponentChildren;
}

export function SideBar({ state, more }: SideBarProps) {
  return (
    <aside class="side">
      <Legend state={state} />
      <Samples state={state} />
      <Details state={state} more={more} />
    </aside>
  );
}

/** Figures of a MemorySampler: a line per label. */
function Samples({ state }: { readonly state: PageState }) {
  const lines = state.model.plots.flatMap((plot) =>
    plot.type === 'lines' && plot.samples === true ? plot.lines : [],
  );
  if (lines.length === 0) return null;
  return (
    <section class="samples" aria-label="Samples by label">
      <table class="small">
        <thead>
          <tr>
            <th scope="col">Label</th>
            <th scope="col">Peak</th>
            <th scope="col">Mean</th>
            <th scope="col">Time</th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ name, slot, series: { time, value, largest } }) => (
            <tr key={name}>
              <th scope="row" title={`${name}: ${countText(value.length, 'sample')}`}>
                <span class="key" style={{ background: slotColor(slot, state.scheme.value) }} />
                {name}
              </th>
              <td>{formatBytes(largest)}</td>
              <td>{formatBytes(value.reduce((sum, bytes) => sum + bytes, 0) / value.length)}</td>
              <td>{formatDuration(time.at(-1)! - time[0]!)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Details({ state, more }: SideBarProps) {
  const hit = state.pinned.value;
  if (hit === undefined) {
    return state.model.taskCount > 0 ? (
      <section class="details hint">
        <p>Click a task to see its details here.</p>
        <p>
          Press <kbd>?</kbd> for all keys.
        </p>
      </section>
    ) : null;
  }
  if (hit.kind === 'density') {
    return (
      <Chosen state={state} title={`${formatCount(hit.runs)} runs in one pixel`}>
        <dl>
          {hit.parts.map((part) => (
            <Fact
              key={part.prefix}
              name={state.model.prefixes[part.prefix]!.name}
              value={`${formatCount(part.runs)} · ${formatDuration(part.seconds)}`}
            />
          ))}
        </dl>
      </Chosen>
    );
  }
  const run = runDetails(state.model, hit.position);
  return (
    <Chosen
      state={state}
      title={run.prefix.isActivity ? 'Activity' : 'Task'}
      action={run.key === '' ? null : <CopyButton text={run.key} label="Copy key" />}
    >
      <RunFacts state={state} run={run} />
      {more(run.task)}
    </Chosen>
  );
}

interface ChosenProps {
  readonly state: PageState;
  readonly title: string;
  readonly action?: ComponentChildren;
  readonly children: ComponentChildren;
}

function Chosen({ state, title, action, children }: ChosenProps) {
  return (
    <section class="details" aria-label="Selected task" aria-live="polite">
      <header>
        <h2>{title}</h2>
        {action}
        <Button
          text="Zoom to"
          class="quiet"
          title="Zoom to the task (F)"
          onClick={() => state.zoomToPinned()}
        />
        <Button
          text="×"
          class="quiet"
          aria-label="Close"
          title="Close (Esc)"
          onClick={set(state.pinned, undefined)}
        />
      </header>
      {children}
    </section>
  );
}

function RunFacts({ state, run }: { readonly state: PageState; readonly run: RunDetails }) {
  const { origin } = state.model;
  const precision = Math.max(1e-4, run.stop - run.start);
  return (
    <>
      {run.key === '' ? null : <p class="code key">{run.key}</p>}
      {run.text === '' || run.text === run.key ? null : <p class="code muted text">{run.text}</p>}
      <dl>
        <Fact
          name={run.prefix.isActivity ? 'Activity' : 'Prefix'}
          value={run.prefixName}
          extra={run.prefixName === run.prefix.name ? undefined : run.prefix.name}
          color={slotColor(run.prefix.slot, state.scheme.value)}
        />
        <Fact name="Worker" value={run.worker} />
        <Fact name="Duration" value={formatDuration(run.stop - run.start)} />
        <Fact
          name="Start"
          value={preciseTime(run.start, precision)}
          extra={formatClock(origin + run.start)}
        />
        <Fact name="Stop" value={preciseTime(run.stop, precision)} extra={formatClock(origin + run.stop)} />
        {cacheStays(state.model, run.task).map((stay, i) => (
          <Fact
            key={i}
            name="In cache"
            value={formatDuration(stay.seconds)}
            extra={
              /bytes$/i.test(stay.metricName)
                ? formatBytes(stay.metric)
                : `${stay.metricName} ${formatNumber(stay.metric)}`
            }
          />
        ))}
      </dl>
    </>
  );
}

interface FactProps {
  readonly name: string;
  readonly value: string;
  readonly extra?: string | undefined;
  readonly color?: string;
}

export function Fact({ name, value, extra, color }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {color === undefined ? null : <span class="swatch" style={{ background: color }} />}
        {value}
        {extra === undefined ? null : <span class="muted extra">{extra}</span>}
      </dd>
    </div>
  );
}

// A button that copies a text to the clipboard and reports the outcome.

interface Props {
  readonly text: string;
  /** Label of the button, e.g. `Copy key`. */
  readonly label: string;
}

function CopyButton({ text, label }: Props) {
  const [outcome, setOutcome] = useState('');
  useEffect(() => setOutcome(''), [text]);
  const copy = async () => setOutcome((await toClipboard(text)) ? 'Copied' : 'Copying failed');
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      <span aria-live="polite">{outcome === '' ? label : outcome}</span>
    </button>
  );
}

/**
 * Returns whether the text was copied. Unencrypted pages of other hosts have no clipboard API and need `execCommand`.
 */
async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

function copySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'hidden';
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
