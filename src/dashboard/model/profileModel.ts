// A SectionPage prepared for display: one time axis from 0, a colour per prefix, and the data of each section's plot.
import { PAUSE } from './currentActivity.js';
import { idleStretches } from './idleStretches.js';
import { ACTIVITY_SLOTS } from './palette.js';
import { type CacheSection, isLaterPart, type SectionPage, type TaskSection } from './sections.js';
import { cacheSeries, type Series } from './series.js';
import { buildLanes, type LaneGroup, type TaskLanes } from './taskLanes.js';
import type { AxisUnit } from './ticks.js';
import type { TimeWindow } from './timeView.js';

export interface TaskPlot {
  readonly type: 'tasks';
  readonly section: TaskSection;
  readonly lanes: TaskLanes;
  /**
   * Lane → its groups in stacking order for narrow runs; the prefix with the most time on the page is at the bottom.
   */
  readonly stacked: readonly (readonly LaneGroup[])[];
}

export interface ResourcePlot {
  readonly type: 'resources';
  /** Percent of one core. */
  readonly cpu: Series;
  /** Bytes. */
  readonly memory: Series;
}

export interface PlotLine {
  readonly name: string;
  readonly slot: number;
  readonly series: Series;
  /** Prefix whose tasks the line is about, if it is about tasks. The line follows the emphasis of the legend. */
  readonly prefix?: number;
}

/** Values over time. */
export interface LinesPlot {
  readonly type: 'lines';
  readonly title: string;
  readonly unit: AxisUnit;
  readonly lines: readonly PlotLine[];
  /** Whether the lines are stacked surfaces, the first at the bottom. Each `series` then includes the lines below. */
  readonly stacked: boolean;
  readonly largest: number;
  /** Number of lines that are not drawn, because they are too many. */
  readonly omitted?: number;
  /** Message of a plot without lines. */
  readonly empty: string;
  /** Whether the figures of each line stand beside the plot. */
  readonly samples?: boolean;
  /** Seconds over which each value is a mean. Without it, values are measured at their time. */
  readonly meanOf?: number;
  /** The results that a CacheProfiler saw, a line per prefix. */
  readonly cache?: CacheSection;
}

export type Plot = TaskPlot | ResourcePlot | LinesPlot;

export interface PrefixInfo {
  readonly index: number;
  readonly name: string;
  readonly slot: number;
  /** Runs in the task streams; results in the cache on a page without a task stream. */
  readonly count: number;
  /** Seconds in the task streams. */
  readonly seconds: number;
  /** True for an activity of workers, false for tasks. */
  readonly isActivity: boolean;
}

export interface ProfileModel {
  readonly page: SectionPage;
  /** Epoch seconds of time 0: the beginning of the run. */
  readonly origin: number;
  /** Seconds from the first event to the last. */
  readonly duration: number;
  /**
   * The run, in seconds since the origin. It ends with the last task, so later activities do not make workers look
   * idle.
   */
  readonly run: TimeWindow;
  /** The duration with a margin, as far as the page can be zoomed out. */
  readonly limits: TimeWindow;
  /** Stretches of the run without tasks and activities that are long enough to be folded, in seconds since the origin. */
  readonly idle: readonly TimeWindow[];
  /** Window that a page follows until the user moves it. Default: `limits`. */
  readonly followed?: TimeWindow | undefined;
  /** The task stream. A page that shows it has it among its plots. */
  readonly stream: TaskPlot;
  readonly plots: readonly Plot[];
  /** False on the page whose search finds functions. Default: true. */
  readonly findsTasks?: boolean;
  /** Prefixes by index. */
  readonly prefixes: readonly PrefixInfo[];
  /** The prefixes that occur in a plot, most time first. */
  readonly legend: readonly PrefixInfo[];
  readonly taskCount: number;
  /** The largest number of workers at any time. */
  readonly workerCount: number;
  /** Number of workers that a live cluster has now. */
  readonly connectedCount?: number | undefined;
  readonly failedCount: number;
  /** Runs that failed and were repeated. */
  readonly repeatedCount: number;
  /** Number of runs, and of those whose rows a live page has received, while many others are still arriving. */
  readonly receiving?: { readonly runs: number; readonly received: number } | undefined;
  /** Returns facts about a task for the tooltip, by row of the page's task table. */
  readonly factsOf?: (task: number) => readonly RunFact[];
  /** Message of a task stream without tasks. Default: how to switch on the Profiler. */
  readonly emptyStream?: string;
  /** Returns the prefix of a failed task, whose colour does not show it; by row of the page's task table. */
  readonly prefixOf?: (task: number) => string | undefined;
}

/** Returns the prefixes of `chosen`, indices of one model, in a later model of the run. Its prefixes can have other indices. */
export function samePrefixes(
  chosen: ReadonlySet<number>,
  before: Pick<ProfileModel, 'prefixes'>,
  { prefixes }: Pick<ProfileModel, 'prefixes'>,
): ReadonlySet<number> {
  if (chosen.size === 0 || before.prefixes === prefixes) return chosen;
  const isChosen = (one: PrefixInfo): boolean =>
    [...chosen].some((index) => {
      const { name, isActivity } = before.prefixes[index] ?? {};
      return one.name === name && one.isActivity === isActivity;
    });
  return new Set(prefixes.filter(isChosen).map(({ index }) => index));
}

export interface RunFact {
  readonly name: string;
  readonly value: string;
}

/** Returns the model of a page on which no task failed. Its `taskCount` is the number of entries of the stream. */
export function buildModel(page: SectionPage): ProfileModel {
  const { stream: section, caches } = page;
  const prefixes = countPrefixes(page);
  // Workers without tasks collect garbage, too, also long after the run.
  const isWork = (entry: number): boolean =>
    prefixes[page.tasks.prefix[section.task[entry]!]!]?.slot !== ACTIVITY_SLOTS.gc;
  const work = { ...section, counts: isWork };
  const found = extent(
    [work, ...caches.map(({ cacheTime: start, freeTime: stop }) => ({ start, stop }))],
    page.fallback,
  );
  const origin = page.origin ?? found.start;
  // A run may end with a wait that no task stream draws, e.g. for a worker.
  const duration = Math.max(found.stop, page.run?.stop ?? found.stop) - origin;
  const stream = taskPlot(page, origin, prefixes);
  const plots = [stream, ...caches.map((cache) => cachePlot(cache, origin, prefixes))];
  const legend = prefixes.filter((prefix) => prefix.count > 0);
  legend.sort((a, b) => b.seconds - a.seconds || b.count - a.count || (a.name < b.name ? -1 : 1));
  // A run begins with the program's call. Before it, there are only activities of idle workers.
  const start = (page.run ?? found).start - origin;
  const margin = (duration - start) * 0.006;
  // A cache may begin earlier and end later than the tasks.
  const run = page.run ?? extent([work], () => found);
  return {
    page,
    origin,
    duration,
    run: { start: run.start - origin, stop: run.stop - origin },
    idle: idleStretches(section, origin, { start, stop: duration }, PAUSE, isWork),
    limits: { start: start - margin, stop: duration + margin },
    stream,
    plots,
    prefixes,
    legend,
    taskCount: section.task.length,
    workerCount: page.workers.length,
    failedCount: 0,
    repeatedCount: 0,
  };
}

/** Times of entries, and whether an entry belongs to the run. Default: each does. */
type Spans = Pick<TaskSection, 'start' | 'stop'> & { readonly counts?: (entry: number) => boolean };

/** Returns the time from the first event to the last, or `fallback` without events. It is not empty. */
function extent(spans: readonly Spans[], fallback: () => TimeWindow): TimeWindow {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const { start, stop, counts } of spans) {
    for (let entry = 0; entry < start.length; entry++) {
      if (counts?.(entry) === false) continue;
      if (start[entry]! < first) first = start[entry]!;
      if (stop[entry]! > last) last = stop[entry]!;
    }
  }
  if (first > last) ({ start: first, stop: last } = fallback());
  return { start: first, stop: last > first ? last : first + 1e-3 };
}

interface Named {
  readonly name: string;
  readonly index: number;
}

const collator = new Intl.Collator('en', { numeric: true });

/** The order of workers on every page. */
export function byName(a: Named, b: Named): number {
  return collator.compare(a.name, b.name) || a.index - b.index;
}

function taskPlot(page: SectionPage, origin: number, prefixes: readonly PrefixInfo[]): TaskPlot {
  const { stream: section, isActivity, partial } = page;
  const workers = page.workers.map((worker, index) => ({ ...worker, index })).sort(byName);
  const prefixOf = (entry: number) => page.tasks.prefix[section.task[entry]!]!;
  const lanes = buildLanes(section, prefixOf, workers, origin, isActivity, partial);
  const seconds = (group: LaneGroup) => prefixes[group.prefix]!.seconds;
  const stacked = lanes.lanes.map((groups) => [...groups].sort((a, b) => seconds(b) - seconds(a)));
  return { type: 'tasks', section, lanes, stacked };
}

const NOTHING_CACHED =
  'No result was in the cache while the CacheProfiler was active. Activate it before compute or get.';

function cachePlot(cache: CacheSection, origin: number, prefixes: readonly PrefixInfo[]): LinesPlot {
  const lines = cacheSeries(cache, origin).map((line) => ({ ...prefixes[line.prefix]!, ...line }));
  const unit = /bytes$/i.test(cache.metricName) ? 'bytes' : 'number';
  return { ...linesPlot('Results in the cache', unit, lines, NOTHING_CACHED), cache };
}

export function linesPlot(
  title: string,
  unit: AxisUnit,
  lines: readonly PlotLine[],
  empty: string,
  stacked = false,
): LinesPlot {
  const largest = lines.reduce((most, { series }) => Math.max(most, series.largest), 0);
  return { type: 'lines', title, unit, lines, stacked, largest, empty };
}

/** Returns the plot of a CacheProfiler without results. */
export function emptyCache(metricName: string): LinesPlot {
  const none = new Float64Array(0);
  const [task, prefix] = [new Int32Array(0), new Uint32Array(0)];
  return cachePlot({ metricName, task, prefix, cacheTime: none, freeTime: none, metric: none }, 0, []);
}

function countPrefixes(page: SectionPage): PrefixInfo[] {
  const count = new Float64Array(page.prefixes.length);
  const seconds = count.slice();
  const activities = new Uint8Array(count.length);
  const { task, start, stop } = page.stream;
  for (let i = 0; i < task.length; i++) {
    const prefix = page.tasks.prefix[task[i]!]!;
    if (!isLaterPart(page.stream, i)) count[prefix] = count[prefix]! + 1;
    seconds[prefix] = seconds[prefix]! + stop[i]! - start[i]!;
    if (page.isActivity(i)) activities[prefix] = 1;
  }
  for (const { prefix, start: from, stop: to, share } of page.partial)
    seconds[prefix] = seconds[prefix]! + share * (to - from);
  // If the tasks of a prefix ran without a profiler, the results of the prefix in the cache are counted instead.
  const ran = count.slice();
  for (const { prefix: held } of page.caches)
    for (const prefix of held) if (ran[prefix] === 0) count[prefix] = count[prefix]! + 1;
  return page.prefixes.map((prefix, index) => ({
    ...prefix,
    index,
    count: count[index]!,
    seconds: seconds[index]!,
    isActivity: activities[index] === 1,
  }));
}

const NO_NUMBERS = new Uint32Array(0);
const NO_TIMES = new Float64Array(0);
/** The model of a page before the first rows have arrived. */
export const EMPTY_MODEL: ProfileModel = {
  ...buildModel({
    title: '',
    workers: [],
    tasks: { keys: [], prefix: NO_NUMBERS, texts: [] },
    prefixes: [],
    stream: { task: NO_NUMBERS, worker: NO_NUMBERS, start: NO_TIMES, stop: NO_TIMES },
    isActivity: () => false,
    partial: [],
    caches: [],
    fallback: () => ({ start: 0, stop: 1 }),
  }),
  plots: [],
};
