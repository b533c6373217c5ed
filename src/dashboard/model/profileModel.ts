// A ProfilePage made ready for the screen: one time axis from 0, a colour per prefix, and per section what its plot
// draws. Built once when the page opens; everything afterwards reads it.
import type {
  CacheSection,
  ProfilePage,
  ProfileSection,
  ResourceSection,
  StringList,
  TaskSection,
} from '../../protocol/profilePage.js';
import { assignColors } from './palette.js';
import { cacheSeries, lineSeries, type PrefixSeries, type Series } from './series.js';
import { buildLanes, type LaneGroup, type TaskLanes } from './taskLanes.js';
import type { AxisUnit } from './ticks.js';
import type { TimeWindow } from './timeView.js';

export interface TaskPlot {
  readonly type: 'tasks';
  readonly section: TaskSection;
  readonly lanes: TaskLanes;
  /** Lane → its groups as they are stacked where runs are too narrow: most time of the whole page at the bottom. */
  readonly stacked: readonly (readonly LaneGroup[])[];
}

export interface ResourcePlot {
  readonly type: 'resources';
  readonly section: ResourceSection;
  /** Percent of one core. */
  readonly cpu: Series;
  /** Bytes. */
  readonly memory: Series;
}

export interface CachePlot {
  readonly type: 'cache';
  readonly section: CacheSection;
  readonly unit: AxisUnit;
  readonly lines: readonly PrefixSeries[];
  readonly largest: number;
}

export type Plot = TaskPlot | ResourcePlot | CachePlot;

export interface PrefixInfo {
  readonly index: number;
  readonly name: string;
  /** Number of its colour. */
  readonly slot: number;
  /** Runs in the task streams; on a page without one, results in the cache. */
  readonly count: number;
  /** Seconds in the task streams. */
  readonly seconds: number;
}

export interface ProfileModel {
  readonly page: ProfilePage;
  /** Epoch seconds of time 0: the first event of any section. */
  readonly origin: number;
  /** Seconds from the first event to the last. */
  readonly duration: number;
  /** The duration with a margin: how far the page can be zoomed out. */
  readonly limits: TimeWindow;
  readonly plots: readonly Plot[];
  /** By prefix index. */
  readonly prefixes: readonly PrefixInfo[];
  /** The prefixes that occur in a plot, most time first. */
  readonly legend: readonly PrefixInfo[];
  readonly taskCount: number;
}

export function buildModel(page: ProfilePage): ProfileModel {
  const { origin, duration } = extent(page);
  const manyStreams = page.sections.filter((section) => section.type === 'tasks').length > 1;
  const prefixes = countPrefixes(page);
  const plots = page.sections.map((section) => sectionPlot(page, section, origin, manyStreams, prefixes));
  const legend = prefixes.filter((prefix) => prefix.count > 0);
  legend.sort((a, b) => b.seconds - a.seconds || b.count - a.count || (a.name < b.name ? -1 : 1));
  const margin = duration * 0.006;
  return {
    page,
    origin,
    duration,
    limits: { start: -margin, stop: duration + margin },
    plots,
    prefixes,
    legend,
    taskCount: page.sections.reduce(
      (sum, section) => sum + (section.type === 'tasks' ? section.task.length : 0),
      0,
    ),
  };
}

function sectionPlot(
  page: ProfilePage,
  section: ProfileSection,
  origin: number,
  manyStreams: boolean,
  prefixes: readonly PrefixInfo[],
): Plot {
  switch (section.type) {
    case 'tasks':
      return taskPlot(page, section, origin, manyStreams, prefixes);
    case 'resources':
      return {
        type: 'resources',
        section,
        cpu: lineSeries(section.time, section.cpu, origin),
        memory: lineSeries(
          section.time,
          section.mem.map((megabytes) => megabytes * 1e6),
          origin,
        ),
      };
    case 'cache':
      return cachePlot(page, section, origin);
  }
}

function extent(page: ProfilePage): { origin: number; duration: number } {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  const include = (column: Float64Array) => {
    for (const time of column) {
      if (time < first) first = time;
      if (time > last) last = time;
    }
  };
  for (const section of page.sections) {
    if (section.type === 'resources') include(section.time);
    else {
      include(section.type === 'tasks' ? section.start : section.cacheTime);
      include(section.type === 'tasks' ? section.stop : section.freeTime);
    }
  }
  // A page without any event, or with a single instant, still needs an axis.
  if (first > last) return { origin: 0, duration: 1 };
  return { origin: first, duration: last > first ? last - first : 1e-3 };
}

function taskPlot(
  page: ProfilePage,
  section: TaskSection,
  origin: number,
  manyStreams: boolean,
  prefixes: readonly PrefixInfo[],
): TaskPlot {
  const used = new Set(section.worker);
  const workers = toArray(page.workers)
    .map((name, index) => ({ index, name }))
    // With several streams on a page each shows its own workers; alone it also shows those that had nothing to do.
    .filter(({ index }) => !manyStreams || used.has(index))
    .sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }) || a.index - b.index);
  const prefixOf = (entry: number) => page.tasks.prefix[section.task[entry]!]!;
  const lanes = buildLanes(section, prefixOf, workers, origin);
  const seconds = (group: LaneGroup) => prefixes[group.prefix]!.seconds;
  const stacked = lanes.lanes.map((groups) => [...groups].sort((a, b) => seconds(b) - seconds(a)));
  return { type: 'tasks', section, lanes, stacked };
}

function cachePlot(page: ProfilePage, section: CacheSection, origin: number): CachePlot {
  const lines = cacheSeries(section, (entry) => page.tasks.prefix[section.task[entry]!]!, origin);
  return {
    type: 'cache',
    section,
    unit: /bytes$/i.test(section.metricName) ? 'bytes' : 'number',
    lines,
    largest: lines.reduce((largest, line) => Math.max(largest, line.series.largest), 0),
  };
}

function countPrefixes(page: ProfilePage): PrefixInfo[] {
  const names = toArray(page.tasks.prefixes);
  const count = new Float64Array(names.length);
  const seconds = new Float64Array(names.length);
  const hasStream = page.sections.some((section) => section.type === 'tasks');
  for (const section of page.sections) {
    if (section.type === 'resources' || (section.type === 'cache' && hasStream)) continue;
    for (let i = 0; i < section.task.length; i++) {
      const prefix = page.tasks.prefix[section.task[i]!]!;
      count[prefix] = count[prefix]! + 1;
      if (section.type === 'tasks') seconds[prefix] = seconds[prefix]! + section.stop[i]! - section.start[i]!;
    }
  }
  // A prefix that only the cache has (its tasks ran unprofiled) is counted there.
  if (hasStream) {
    for (const section of page.sections) {
      if (section.type !== 'cache') continue;
      const only = new Set(
        section.task.map((task) => page.tasks.prefix[task]!).filter((prefix) => count[prefix] === 0),
      );
      for (const task of section.task) {
        const prefix = page.tasks.prefix[task]!;
        if (only.has(prefix)) count[prefix] = count[prefix]! + 1;
      }
    }
  }
  const slots = assignColors(names);
  return names.map((name, index) => ({
    index,
    name,
    slot: slots[index]!,
    count: count[index]!,
    seconds: seconds[index]!,
  }));
}

export function toArray(strings: StringList): string[] {
  return Array.from({ length: strings.length }, (_, i) => strings.at(i) ?? '');
}
