// Right of the plots: the legend, which is also a table of the prefixes, and the task that was clicked.
import { formatBytes, formatClock, formatCount, formatDuration, formatNumber } from '../model/format.js';
import { slotColor } from '../model/palette.js';
import type { PrefixInfo, TaskPlot } from '../model/profileModel.js';
import { preciseTime } from '../model/ticks.js';
import type { PageState } from './pageState.js';
import { cacheStays, runDetails } from './runDetails.js';

export function SideBar({ state }: { readonly state: PageState }) {
  return (
    <aside class="side">
      <Legend state={state} />
      <Details state={state} />
    </aside>
  );
}

function Legend({ state }: { readonly state: PageState }) {
  const { legend } = state.model;
  const locked = state.locked.value;
  if (legend.length === 0) return null;
  const largest = legend.reduce((most, prefix) => Math.max(most, prefix.seconds), 0);
  return (
    <section class="legend" aria-label="Legend: prefixes">
      <header>
        <h2>
          Prefix
          {locked.size > 0 ? (
            <button
              type="button"
              class="quiet"
              onClick={() => {
                state.locked.value = new Set();
              }}
            >
              Show all
            </button>
          ) : null}
        </h2>
        <span>{largest > 0 ? 'Tasks' : 'Results'}</span>
        <span>{largest > 0 ? 'Time' : ''}</span>
      </header>
      <ul>
        {legend.map((prefix) => (
          <LegendRow key={prefix.index} state={state} prefix={prefix} largest={largest} />
        ))}
      </ul>
    </section>
  );
}

interface RowProps {
  readonly state: PageState;
  readonly prefix: PrefixInfo;
  readonly largest: number;
}

function LegendRow({ state, prefix, largest }: RowProps) {
  const emphasis = state.emphasis.value;
  const color = slotColor(prefix.slot, state.scheme.value);
  const point = (index: number | undefined) => {
    state.pointed.value = index;
  };
  return (
    <li>
      <button
        type="button"
        class={emphasis === undefined || emphasis.has(prefix.index) ? 'entry' : 'entry faded'}
        aria-pressed={state.locked.value.has(prefix.index)}
        title={prefix.name}
        onClick={() => state.toggleLocked(prefix.index)}
        onPointerEnter={() => point(prefix.index)}
        onPointerLeave={() => point(undefined)}
        onFocus={(event) => {
          if (event.currentTarget.matches(':focus-visible')) point(prefix.index);
        }}
        onBlur={() => point(undefined)}
      >
        <span class="swatch" style={{ background: color }} />
        <span class="name">{prefix.name}</span>
        <span class="number">{formatCount(prefix.count)}</span>
        <span class="number">{largest > 0 ? formatDuration(prefix.seconds) : ''}</span>
        {largest > 0 ? (
          <span class="share">
            <i style={{ width: `${(100 * prefix.seconds) / largest}%`, background: color }} />
          </span>
        ) : null}
      </button>
    </li>
  );
}

function Details({ state }: { readonly state: PageState }) {
  const pinned = state.pinned.value;
  const plot = pinned === undefined ? undefined : state.model.plots[pinned.plot];
  if (pinned === undefined || plot?.type !== 'tasks') {
    return state.model.taskCount > 0 ? (
      <section class="details hint">
        <p>Click a task to keep it here.</p>
        <p>
          Press <kbd>?</kbd> for the keys.
        </p>
      </section>
    ) : null;
  }
  const { hit } = pinned;
  return (
    <section class="details" aria-label="Selected task" aria-live="polite">
      <header>
        <h2>{hit.kind === 'run' ? 'Task' : `${formatCount(hit.runs)} tasks in one pixel`}</h2>
        <button type="button" class="quiet" onClick={() => zoomToPinned(state)}>
          Zoom to
        </button>
        <button
          type="button"
          class="quiet"
          aria-label="Close"
          onClick={() => {
            state.pinned.value = undefined;
          }}
        >
          ×
        </button>
      </header>
      {hit.kind === 'run' ? (
        <RunFacts state={state} plot={plot} position={hit.position} />
      ) : (
        <dl>
          {hit.parts.map((part) => (
            <Fact
              key={part.prefix}
              name={state.model.prefixes[part.prefix]!.name}
              value={`${formatCount(part.runs)} · ${formatDuration(part.seconds)}`}
            />
          ))}
        </dl>
      )}
    </section>
  );
}

function zoomToPinned(state: PageState): void {
  const extent = state.pinned.value === undefined ? undefined : state.extentOf(state.pinned.value);
  if (extent === undefined) return;
  const margin = Math.max(extent.stop - extent.start, 1e-6);
  state.moveTo({ start: extent.start - margin, stop: extent.stop + margin }, true);
}

function RunFacts({ state, plot, position }: { state: PageState; plot: TaskPlot; position: number }) {
  const run = runDetails(state.model, plot, position);
  const { origin } = state.model;
  const precision = Math.max(1e-4, run.stop - run.start);
  return (
    <>
      <p class="code key">{run.key}</p>
      {run.text === '' || run.text === run.key ? null : <p class="code muted text">{run.text}</p>}
      <dl>
        <Fact name="Prefix" value={run.prefix.name} color={slotColor(run.prefix.slot, state.scheme.value)} />
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

function Fact({
  name,
  value,
  extra,
  color,
}: {
  name: string;
  value: string;
  extra?: string;
  color?: string;
}) {
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
