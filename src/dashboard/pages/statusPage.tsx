// The page for a running program: the task stream, and panels for the progress of prefixes and the memory and load of
// workers. The panels of a finished trace show the time under the pointer, or the end of the window.

import { sumOf } from '../../base/lookUps.js';
import { countText } from '../../base/words.js';
import { TASK_CANCELLED, TASK_LOST } from '../../protocol/clusterObserver.js';
import { type Trace, workerName } from '../../trace/trace.js';
import { formatBytes, formatCount, formatDuration, formatPercent } from '../model/format.js';
import { histogram } from '../model/histogram.js';
import { ACTIVITY_SLOTS, mix, prefixColors, type Scheme, slotColor } from '../model/palette.js';
import { byName } from '../model/profileModel.js';
import { recordedProgress } from '../model/recordedProgress.js';
import { MEMORY_PARTS, MEMORY_SLOTS } from '../model/traceSeries.js';
import { type ShownWorker, shownTime, workersAt } from '../model/workersAt.js';
import { type BarRow, Bars, ColorKey, Empty, Panel, Panels } from '../views/parts.js';
import { Plots } from '../views/plots.js';
import { useFlows } from '../views/useAnalysis.js';
import type { DrawnProps, PageProps } from './pageProps.js';

/** Workers with a bar each. As in Dask, more workers are shown as a histogram. */
const MAX_WORKERS = 100;
const MAX_BINS = 20;
const NO_WORKERS = 'There are no workers. Tasks wait until one joins.';

/** Returns the time that the panels show. */
function momentNote(view: PageProps['state']['view']): string {
  return view.hover.value === undefined ? 'at the end of the window' : 'at the pointer';
}

export function StatusPage({ state, update }: PageProps) {
  const { view } = state;
  const { trace, live } = update;
  const scheme = view.scheme.value;
  useFlows(state, trace);
  const at = shownTime(view.model, view.window.value, view.hover.value, live !== undefined);
  const listed =
    live === undefined
      ? workersAt(trace, at)
      : live.workers.map((row) =>
          row.index < trace.workers.length ? { ...row, name: workerName(trace, row.index) } : row,
        );
  const workers = [...listed].sort(byName);
  return (
    <div class="split">
      <Plots state={view} streamNote={<StreamNote state={state} />} />
      <Panels four>
        <Panel title="Progress" note={progressNote(update)}>
          <Progress trace={trace} live={live} scheme={scheme} />
        </Panel>
        <Panel title="Memory per worker">
          <Memory
            workers={workers}
            scheme={scheme}
            onWorker={(index) => {
              state.showWorker(index);
              state.go('workers');
            }}
          />
        </Panel>
        <Panel
          title={live === undefined ? 'Tasks running' : 'Tasks processing'}
          note={live === undefined ? momentNote(view) : `started or waiting${pausedText(workers)}`}
        >
          <Processing workers={workers} scheme={scheme} />
        </Panel>
        <Panel
          title="Occupancy and CPU"
          note={
            live === undefined
              ? `CPU in %, ${momentNote(view)}`
              : workers.length > MAX_WORKERS
                ? 'CPU in %'
                : 'CPU in % · occupancy'
          }
        >
          <Load trace={trace} workers={workers} at={at} scheme={scheme} />
        </Panel>
      </Panels>
    </div>
  );
}

function pausedText(workers: readonly ShownWorker[]): string {
  const paused = workers.filter(({ status }) => status === 'paused').length;
  return paused === 0 ? '' : `; ${countText(paused, 'worker')} paused`;
}

/** The colour key of activities, or a link to details of the selected task. */
function StreamNote({ state }: Pick<PageProps, 'state'>) {
  const { view, selectedRow, trace } = state;
  const scheme = view.scheme.value;
  if (selectedRow !== undefined && trace !== undefined)
    return (
      <button type="button" class="quiet stream-task" onClick={() => state.go('stream')}>
        More about <span class="code">{trace.tasks.keyOf(selectedRow)}</span>
      </button>
    );
  const parts = view.model.legend
    .filter(({ isActivity }) => isActivity)
    .map(({ name, slot }) => ({ name, color: slotColor(slot, scheme) }));
  return parts.length === 0 ? null : <ColorKey parts={parts} />;
}

function progressNote({ trace, live }: PageProps['update']): string {
  if (live === undefined) {
    const { states } = trace.totals;
    const without = (states[TASK_CANCELLED] ?? 0) + (states[TASK_LOST] ?? 0);
    const ended = `${countText(sumOf(states, Number), 'run')} ended`;
    return without > 0 ? `${ended}, ${formatCount(without)} without result` : ended;
  }
  return Object.entries(live.states)
    .filter(([name, count]) => count > 0 && name !== 'forgotten')
    .map(([name, count]) => `${formatCount(count)} ${name}`)
    .join(', ');
}

interface ProgressProps extends DrawnProps {
  readonly live: PageProps['update']['live'];
}

const MAX_PREFIXES = 60;

function Progress({ trace, live, scheme }: ProgressProps) {
  const colors = prefixColors(trace, scheme);
  const ground = scheme === 'light' ? '#ffffff' : '#14171c';
  const rows =
    live === undefined
      ? recordedProgress(trace)
      : live.progress.flatMap(({ current, ...row }) => (current.total > 0 ? [{ ...row, ...current }] : []));
  const sorted = [...rows].sort((a, b) => b.seconds - a.seconds || b.total - a.total).slice(0, MAX_PREFIXES);
  if (sorted.length === 0) return <Empty>No task was submitted yet.</Empty>;
  return (
    <>
      <Bars
        rows={sorted.map(({ prefix, total, finished, erred, cancelled, processing }): BarRow => {
          const color = colors(prefix);
          const parts = [
            { name: `${formatCount(finished)} in memory or released`, value: finished, color },
            {
              name: `${formatCount(erred)} erred`,
              value: erred,
              color: slotColor(ACTIVITY_SLOTS.erred, scheme),
            },
            {
              name: `${formatCount(processing)} processing`,
              value: processing,
              color: mix(color, ground, 0.55),
            },
            {
              name: `${formatCount(cancelled)} without result`,
              value: cancelled,
              color: slotColor(ACTIVITY_SLOTS.gc, scheme),
            },
          ];
          const label =
            live === undefined && finished + erred === total
              ? formatCount(total)
              : `${formatCount(finished)} / ${formatCount(total)}`;
          return {
            name: prefix,
            parts: parts.filter(({ value }) => value > 0),
            // Each bar has its own scale, so that it shows the progress of its prefix.
            largest: total,
            label: erred > 0 ? `${label}, ${formatCount(erred)} erred` : label,
          };
        })}
      />
      {rows.length > MAX_PREFIXES ? (
        <p class="muted">and {formatCount(rows.length - MAX_PREFIXES)} more prefixes</p>
      ) : null}
    </>
  );
}

function memoryNote(workers: readonly ShownWorker[]): string {
  const sum = (of: (worker: ShownWorker) => number) => sumOf(workers, of);
  const limit = sum(({ memoryLimit }) => memoryLimit);
  const used = sum(({ managed, unmanaged }) => managed + unmanaged);
  return `Cluster: ${formatBytes(used)}${limit > 0 ? ` of ${formatBytes(limit)}` : ''}, ${formatBytes(sum(({ spilled }) => spilled))} on disk`;
}

interface WorkersProps {
  readonly workers: readonly ShownWorker[];
  readonly scheme: Scheme;
}

interface MemoryProps extends WorkersProps {
  readonly onWorker: (index: number) => void;
}

function Memory({ workers, scheme, onWorker }: MemoryProps) {
  const parts = MEMORY_PARTS.map((name) => ({ name, color: slotColor(MEMORY_SLOTS[name], scheme) }));
  if (workers.length === 0) return <Empty>{NO_WORKERS}</Empty>;
  if (workers.every(({ managed, unmanaged, spilled }) => managed + unmanaged + spilled === 0))
    return <Empty>No worker has reported its memory by this time.</Empty>;
  if (workers.length > MAX_WORKERS)
    return (
      <>
        <WorkerHistogram
          values={workers.map(({ managed, unmanaged }) => Math.round(managed + unmanaged))}
          color={slotColor(MEMORY_SLOTS.managed, scheme)}
          name={bytesName}
          what="this memory"
        />
        <p class="muted">{memoryNote(workers)}</p>
      </>
    );
  const rows = workers.map(
    ({ name, index, managed, unmanaged, spilled, memoryLimit }): BarRow => ({
      name,
      parts: parts.map((part) => ({ ...part, value: { managed, unmanaged, spilled }[part.name] })),
      label:
        memoryLimit > 0
          ? `${formatBytes(managed + unmanaged)} of ${formatBytes(memoryLimit)}`
          : formatBytes(managed + unmanaged),
      limit: memoryLimit > 0 ? memoryLimit : undefined,
      onClick: () => onWorker(index),
    }),
  );
  return (
    <>
      <Bars rows={rows} areWorkers />
      <p class="muted">{memoryNote(workers)}</p>
      <ColorKey parts={parts} />
    </>
  );
}

interface HistogramProps {
  /** A whole number per worker. */
  readonly values: readonly number[];
  readonly color: string;
  /** Returns the name of a bin. */
  readonly name: (from: number, to: number) => string;
  /** What the numbers are about, e.g. `these tasks`. */
  readonly what: string;
}

/** Numbers of workers by a figure of each. */
function WorkerHistogram({ values, color, name, what }: HistogramProps) {
  const rows = histogram(values, MAX_BINS).map(({ from, to, count }) => ({
    name: name(from, to),
    parts: [{ name: countText(count, 'worker'), value: count, color }],
    label: formatCount(count),
  }));
  if (rows.length === 0) return <Empty>No worker has reported it yet.</Empty>;
  return (
    <>
      <Bars rows={rows} />
      <p class="muted">
        the number of workers with {what}, of {countText(values.length, 'worker')}
      </p>
    </>
  );
}

/** Returns e.g. `2–4 tasks`, or `2 tasks` for a bin of one number. */
const tasksName = (from: number, to: number): string =>
  `${from === to ? formatCount(from) : `${formatCount(from)}–${formatCount(to)}`} ${to === 1 ? 'task' : 'tasks'}`;
const bytesName = (from: number, to: number): string => `${formatBytes(from)}–${formatBytes(to)}`;
const percentName = (from: number, to: number): string => `${formatPercent(from)}–${formatPercent(to + 1)}`;

function Processing({ workers, scheme }: WorkersProps) {
  if (workers.length > MAX_WORKERS)
    return (
      <WorkerHistogram
        values={workers.map(({ processing }) => processing)}
        color={slotColor(12, scheme)}
        name={tasksName}
        what="these tasks"
      />
    );
  const color = slotColor(12, scheme);
  const rows = workers.map(({ name, processing, status }) => ({
    name,
    parts: [{ name: countText(processing, 'task'), value: processing, color }],
    label: `${formatCount(processing)}${status === 'paused' ? ', paused' : ''}`,
  }));
  return <Bars rows={rows} areWorkers none={NO_WORKERS} />;
}

function Load({ trace, workers, at, scheme }: WorkersProps & { readonly trace: Trace; readonly at: number }) {
  const cpu = cpuAt(trace, at);
  if (workers.length > MAX_WORKERS)
    return (
      <WorkerHistogram
        values={workers
          .map(({ index }) => Math.floor(cpu.get(index) ?? Number.NaN))
          .filter((percent) => !Number.isNaN(percent))}
        color={slotColor(0, scheme)}
        name={percentName}
        what="this CPU usage"
      />
    );
  const rows = workers.map(({ name, index, occupancy }) => {
    const percent = cpu.get(index);
    return {
      name,
      parts: [{ name: 'CPU', value: percent ?? 0, color: slotColor(0, scheme) }],
      label: `${percent === undefined ? '–' : formatPercent(percent)}${occupancy > 0 ? ` · ${formatDuration(occupancy)}` : ''}`,
    };
  });
  return <Bars rows={rows} areWorkers largest={Math.max(100, ...cpu.values())} none={NO_WORKERS} />;
}

/** Returns the last CPU sample of each worker before a time, in percent of one core. */
function cpuAt({ resources }: Trace, at: number): Map<number, number> {
  const values = resources.figures.get('cpu');
  const found = new Map<number, number>();
  for (let row = 0; row < resources.length && values !== undefined; row++) {
    if (resources.worker[row]! < 0 || resources.time[row]! > at || Number.isNaN(values[row]!)) continue;
    found.set(resources.worker[row]!, values[row]!);
  }
  return found;
}
