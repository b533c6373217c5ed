// The plots of each page. They share the time axis, the zoom and the pointer of the page.
import { memoryByPrefix } from '../../analysis/memoryByPrefix.js';
import { windowOf } from '../../analysis/path/pathWalk.js';
import {
  type ProfileTreeOptions,
  profileTimeline,
  sampledTime,
  samplingInterval,
} from '../../analysis/profile.js';
import { getOrMake, pushTo } from '../../base/lookUps.js';
import { type Trace, workerName } from '../../trace/trace.js';
import { currentActivity } from '../model/currentActivity.js';
import { assignColors } from '../model/palette.js';
import {
  emptyCache,
  type LinesPlot,
  linesPlot,
  type Plot,
  type PlotLine,
  type ProfileModel,
} from '../model/profileModel.js';
import type { Series } from '../model/series.js';
import type { TimeWindow } from '../model/timeView.js';
import {
  bandwidthPlot,
  type Figure,
  figurePlot,
  memoryPlot,
  resourcePlot,
  sampledPlot,
  seriesOfRows,
  stackedPlot,
} from '../model/traceSeries.js';
import type { TraceUpdate } from '../source/traceSource.js';
import type { PageName } from './pageNames.js';
import { chosenSamples, type ProfileChoice } from './profileQuery.js';

export interface PlotContext {
  readonly trace: Trace;
  readonly model: ProfileModel;
  /** Chosen worker; undefined for all. */
  readonly worker: number | undefined;
  readonly profile: ProfileChoice;
  /** Names of the plots of the page `run`, in order. Undefined for all plots of which the trace has rows. */
  readonly shown: readonly string[] | undefined;
}

/** Pages that show the current activity of a live run. */
const FOLLOWING: readonly PageName[] = ['status', 'stream'];

/** Returns the window that a page follows, with a margin, in seconds since the origin; undefined for the whole run. */
export function followedWindow(
  page: PageName,
  update: TraceUpdate | undefined,
  origin: number,
): TimeWindow | undefined {
  if (update?.live === undefined || !FOLLOWING.includes(page)) return undefined;
  const found = currentActivity(update.trace.tasks, update.live.running, update.live.time);
  if (found === undefined) return undefined;
  const margin = (found.stop - found.start) * 0.006;
  return { start: found.start - origin - margin, stop: found.stop - origin + margin };
}

export function plotsOfPage(page: PageName, context: PlotContext): readonly Plot[] {
  const { trace, worker, profile } = context;
  const { origin, stream } = context.model;
  switch (page) {
    case 'stream':
    case 'status':
      return [stream];
    case 'run':
      return runPlots(context);
    case 'workers':
      return [
        memoryPlot(trace, origin, worker),
        ...figures(trace, origin, worker ?? 'workers', WORKER_FIGURES),
        bandwidthPlot(trace, origin, worker),
      ].filter((plot, i) => i === 0 || plot.lines.length > 0);
    case 'profile':
      return trace.samples.length === 0 ? [] : [samplesPlot(trace, origin, chosenSamples(profile, worker))];
    case 'bandwidth':
      return [bandwidthPlot(trace, origin)];
    case 'memory':
      return [memoryPlot(trace, origin), heldPlot(trace, origin)];
    case 'contention':
      return figures(trace, origin, 'all', [LATE, BUSY_LOOP]).filter(
        (plot, i) => i === 0 || plot.lines.length > 0,
      );
    case 'system': {
      const plots = [
        ...figures(trace, origin, 'host', HOST_FIGURES),
        gpuPlot(trace, origin, 'utilization'),
        gpuPlot(trace, origin, 'memory_used'),
      ].filter(({ lines }) => lines.length > 0);
      return plots.length > 0 ? plots : figures(trace, origin, 'host', HOST_FIGURES.slice(0, 1));
    }
    default:
      return [];
  }
}

/** Returns the task stream, CPU and memory, and the results that were held. */
function runPlots({ trace, model, shown }: PlotContext): Plot[] {
  const { origin, stream } = model;
  const caches = model.plots.filter((plot) => plot.type === 'lines');
  if (shown !== undefined) {
    return shown.flatMap((name): readonly Plot[] => {
      if (name === 'tasks') return [stream];
      if (name === 'resources') return [resourcePlot(trace, origin)];
      if (name === 'memory') return [sampledPlot(trace, origin)];
      const metricName = name.startsWith(CACHE) ? name.slice(CACHE.length) : undefined;
      const found = caches.filter(({ cache }) => cache?.metricName === metricName);
      return found.length > 0 || metricName === undefined ? found : [emptyCache(metricName)];
    });
  }
  const resources = resourcePlot(trace, origin);
  const levels = [heldPlot(trace, origin), sampledPlot(trace, origin)];
  return [
    stream,
    ...(resources.cpu.time.length > 0 ? [resources] : []),
    ...caches,
    ...levels.filter(({ lines }) => lines.length > 0),
  ];
}

/** Precedes the name of a CacheProfiler's metric in the name of a plot. */
const CACHE = 'cache ';

/** Extends the limits to the samples of the plots, which can begin before the first task and end after the last. */
export function extentOfPlots(plots: readonly Plot[], limits: TimeWindow): TimeWindow {
  let { start, stop } = limits;
  const include = ({ time }: Series): void => {
    if (time.length === 0) return;
    start = Math.min(start, time[0]!);
    stop = Math.max(stop, time[time.length - 1]!);
  };
  for (const plot of plots) {
    if (plot.type === 'resources') include(plot.cpu);
    if (plot.type === 'lines') for (const { series } of plot.lines) include(series);
  }
  return { start, stop };
}

const LATE: Figure = { figure: 'eventLoopDelay', title: 'Event loop delay', unit: 'seconds' };
const BUSY_LOOP: Figure = {
  figure: 'event_loop_utilization',
  title: 'Event loop utilization',
  unit: 'percent',
};

const WORKER_FIGURES: readonly Figure[] = [
  { figure: 'cpu', title: 'CPU', unit: 'percent' },
  { figure: 'heap', title: 'Heap', unit: 'bytes' },
  LATE,
  { figure: 'disk_io.read_bps', title: 'Read from disk', unit: 'bytes/s' },
  { figure: 'disk_io.write_bps', title: 'Written to disk', unit: 'bytes/s' },
  { figure: 'num_fds', title: 'Open files', unit: 'number' },
];

const HOST_FIGURES: readonly Figure[] = [
  { figure: 'host_cpu', title: 'CPU of the host', unit: 'percent' },
  { figure: 'cpu', title: 'CPU of scheduler and workers', unit: 'percent' },
  { figure: 'rss', title: 'Memory of the processes', unit: 'bytes' },
  { figure: 'memory', title: 'Memory', unit: 'bytes' },
  { figure: 'host_net_io.read_bps', title: 'Received from the network', unit: 'bytes/s' },
  { figure: 'host_net_io.write_bps', title: 'Sent to the network', unit: 'bytes/s' },
  { figure: 'host_disk_io.read_bps', title: 'Read from disk', unit: 'bytes/s' },
  { figure: 'host_disk_io.write_bps', title: 'Written to disk', unit: 'bytes/s' },
  { figure: 'eventLoopDelay', title: 'Event loop delay of the scheduler', unit: 'seconds' },
  { figure: 'num_fds', title: 'Open files', unit: 'number' },
];

function figures(
  trace: Trace,
  origin: number,
  of: Parameters<typeof figurePlot>[2],
  list: readonly Figure[],
): LinesPlot[] {
  return list.map((figure) => figurePlot(trace, origin, of, figure));
}

/** Largest number of bins, and smallest number of sampling intervals per bin, because few samples are noise. */
const MAX_BINS = 300;
const MIN_SAMPLES = 10;

/** Returns the number of busy threads over time, estimated from samples. */
function samplesPlot(trace: Trace, origin: number, chosen: ProfileTreeOptions): LinesPlot {
  const sampled = sampledTime(trace);
  const bins = Math.floor((sampled.stop - sampled.start) / (MIN_SAMPLES * samplingInterval(trace)));
  const { start, step, seconds } = profileTimeline(trace, Math.max(1, Math.min(MAX_BINS, bins)), chosen);
  const time = Float64Array.from(seconds, (_, bin) => start - origin + bin * step);
  const value = seconds.map((busy) => (step > 0 ? busy / step : 0));
  const part = { name: 'busy threads', slot: 12, value };
  const empty = 'No sample matches the choice.';
  return {
    ...stackedPlot('Busy threads, from samples', 'number', time, [part], empty),
    ...(step > 0 ? { meanOf: step } : {}),
  };
}

/** Returns the bytes of held results over time by prefix, as in the question `memory-by-prefix`. Cached per trace. */
function heldPlot(trace: Trace, origin: number): LinesPlot {
  return getOrMake(held, trace, () => makeHeldPlot(trace, origin));
}

const held = new WeakMap<Trace, LinesPlot>();

function makeHeldPlot(trace: Trace, origin: number): LinesPlot {
  const table = memoryByPrefix(trace);
  const start = windowOf(trace).start - origin;
  const time = Float64Array.from(table.rows, (row) => Number(row['Time (s)']) + start);
  const titles = table.columns.filter((title) => title !== 'Time (s)' && title !== 'All (MB)');
  const names = titles.map((title) => title.replace(/ \(MB\)$/, ''));
  const slots = assignColors(names);
  const parts = titles.map((title, i) => ({
    name: names[i]!,
    slot: slots[i]!,
    value: Float64Array.from(table.rows, (row) => Number(row[title]) * 1e6),
  }));
  const empty = trace.tasks.length === 0 ? 'No task has ended yet.' : 'The trace has no sizes of results.';
  const plot = stackedPlot('Results needed by tasks or futures', 'bytes', time, parts, empty);
  return time.length < 2 ? plot : { ...plot, meanOf: time[1]! - time[0]! };
}

/** Name of a figure of one GPU of a host, e.g. `gpu_1_memory_used`. */
const NUMBERED = /^gpu_(\d+)_(\w+)$/;

const PLOTS = {
  utilization: { title: 'GPU', unit: 'percent', of: 'gpuUtilization' },
  memory_used: { title: 'GPU memory', unit: 'bytes', of: 'gpuMemoryUsed' },
} as const;

/** Returns the plot of the utilization of GPUs in percent, or of their used memory in bytes. */
function gpuPlot(trace: Trace, origin: number, what: keyof typeof PLOTS): LinesPlot {
  const { title, unit, of } = PLOTS[what];
  const { resources } = trace;
  const found = [...resources.figures].flatMap(([figure, values]): [number, Float64Array][] => {
    const [, number, name] = NUMBERED.exec(figure) ?? [];
    return name === what ? [[Number(number), values]] : [];
  });
  found.sort(([a], [b]) => a - b);
  const rows = Array.from({ length: resources.length }, (_, row) => row);
  const lines =
    found.length > 0
      ? found.map(([number, values]): Line => ({ name: `GPU ${number}`, values, rows }))
      : byOrigin(trace, resources[of]);
  const known = lines
    .map((line) => ({ ...line, rows: line.rows.filter((row) => !Number.isNaN(line.values[row])) }))
    .filter((line) => line.rows.length > 0);
  const slots = assignColors(known.map(({ name }) => name));
  const plotted = known.map((line, i): PlotLine => {
    const series = seriesOfRows(line.rows, resources.time, line.values, origin);
    return { name: line.name, slot: slots[i]!, series };
  });
  return linesPlot(title, unit, plotted, 'The trace has no samples of GPUs.');
}

interface Line {
  readonly name: string;
  readonly values: Float64Array;
  readonly rows: readonly number[];
}

/** Returns a line for each device that the recorder named, else for each worker, or for the host. */
function byOrigin(trace: Trace, values: Float64Array): Line[] {
  const { resources, strings } = trace;
  const rowsOf = new Map<string, number[]>();
  for (let row = 0; row < resources.length; row++) {
    const device = resources.device[row]!;
    const worker = resources.worker[row]!;
    const owner = worker < 0 ? 'all GPUs' : workerName(trace, worker);
    const name = device < 0 ? owner : worker < 0 ? strings.get(device) : `${owner} ${strings.get(device)}`;
    pushTo(rowsOf, name, row);
  }
  return Array.from(rowsOf, ([name, rows]) => ({ name, values, rows }));
}
