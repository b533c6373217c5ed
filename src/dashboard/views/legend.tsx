// The legend of the task streams, with the runs and seconds of each prefix in the visible range of time. Tasks come
// first, then other activities of the workers.
import { effect } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { formatCount, formatDuration } from '../model/format.js';
import { slotColor } from '../model/palette.js';
import type { PrefixInfo } from '../model/profileModel.js';
import { type PrefixSum, rangeSums } from '../model/rangeSums.js';
import { showsAll, spanOf, type TimeWindow } from '../model/timeView.js';
import type { PageState } from './pageState.js';
import { Button, set } from './parts.js';

const NOTHING: PrefixSum = { runs: 0, seconds: 0 };
/** Milliseconds without a move of the window before its sums are computed. */
const SUM_DELAY = 60;

/** Returns the window after it has stopped moving; undefined if it shows the whole run. */
function useShownRange(state: PageState): TimeWindow | undefined {
  const [range, setRange] = useState<TimeWindow | undefined>(undefined);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = effect(() => {
      const window = state.window.value;
      clearTimeout(timer);
      if (showsAll(state.model.limits, window)) setRange(undefined);
      else timer = setTimeout(() => setRange(window), SUM_DELAY);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [state]);
  return range;
}

export function Legend({ state }: { readonly state: PageState }) {
  const { model } = state;
  const locked = state.locked.value;
  const range = useShownRange(state);
  const sums = useMemo(() => (range === undefined ? undefined : rangeSums(model, range)), [model, range]);
  if (model.legend.length === 0) return null;
  const sumOf = ({ index, count, seconds }: PrefixInfo): PrefixSum =>
    sums === undefined ? { runs: count, seconds } : (sums.get(index) ?? NOTHING);
  const all = model.legend.map((prefix) => ({ prefix, ...sumOf(prefix) }));
  const rows = all.filter(({ runs }) => runs > 0);
  // Prefixes are sorted by their time in the visible range, not in the whole run.
  if (sums !== undefined) rows.sort((a, b) => b.seconds - a.seconds);
  const streams = state.showsStream && rows.some(({ seconds }) => seconds > 0);
  const largest = streams ? rows.reduce((most, { seconds }) => Math.max(most, seconds), 0) : 0;
  const tasks = rows.filter(({ prefix }) => !prefix.isActivity);
  const absent = all.length - rows.length;
  const activities = rows.filter(({ prefix }) => prefix.isActivity);
  const list = (some: readonly LegendEntry[]) =>
    some.map((row) => <LegendRow key={row.prefix.index} state={state} row={row} largest={largest} />);
  return (
    <section class="legend" aria-label="Legend: prefixes">
      <header>
        <h2>
          {range === undefined || !streams ? 'Prefix' : `In the visible ${formatDuration(spanOf(range))}`}
          {locked.size > 0 ? (
            <Button text="Show all" class="quiet" onClick={set(state.locked, new Set())} />
          ) : null}
        </h2>
        <span>{streams ? 'Tasks' : 'Results'}</span>
        <span>{streams ? 'Time' : ''}</span>
      </header>
      <ul>
        {list(tasks)}
        {streams && tasks.length > 1 ? <TotalRow rows={tasks} /> : null}
        {activities.length === 0 ? null : (
          <li class="beside">
            <h3>Other activities</h3>
            <span>Count</span>
            <span>Time</span>
          </li>
        )}
        {list(activities)}
        {absent === 0 ? null : (
          <li class="absent">
            {formatCount(absent)} more {absent === 1 ? 'is' : 'are'} not in this range
          </li>
        )}
      </ul>
    </section>
  );
}

type LegendEntry = PrefixSum & { readonly prefix: PrefixInfo };

function TotalRow({ rows }: { readonly rows: readonly LegendEntry[] }) {
  return (
    <li class="entry total">
      <span class="name">All tasks</span>
      <span class="number">{formatCount(rows.reduce((sum, { runs }) => sum + runs, 0))}</span>
      <span class="number">{formatDuration(rows.reduce((sum, { seconds }) => sum + seconds, 0))}</span>
    </li>
  );
}

interface RowProps {
  readonly state: PageState;
  readonly row: LegendEntry;
  /** Seconds of the longest bar; 0 for rows without bars. */
  readonly largest: number;
}

function LegendRow({ state, row: { prefix, runs, seconds }, largest }: RowProps) {
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
        <span class="number">{formatCount(runs)}</span>
        <span class="number">{largest > 0 ? formatDuration(seconds) : ''}</span>
        {largest > 0 ? (
          <span class="share">
            <i style={{ width: `${(100 * seconds) / largest}%`, background: color }} />
          </span>
        ) : null}
      </button>
    </li>
  );
}
