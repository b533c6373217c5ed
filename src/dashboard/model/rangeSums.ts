// Sums of runs and seconds per prefix in a range of time, exact even for runs that are too narrow to draw.
import { rowsWhere } from '../../base/groups.js';
import { getOrMake, oncePer } from '../../base/lookUps.js';
import type { ProfileModel } from './profileModel.js';
import { isLaterPart, type TaskSection } from './sections.js';
import { busySeconds, partialSeconds, visibleRuns } from './streamDetail.js';
import type { TimeWindow } from './timeView.js';

export interface PrefixSum {
  readonly runs: number;
  /** Seconds of these runs within the range. */
  readonly seconds: number;
}

/**
 * Returns sums by prefix index, for prefixes with runs in the range. Cost: a few binary searches per lane and prefix.
 */
export function rangeSums(model: ProfileModel, { start, stop }: TimeWindow): Map<number, PrefixSum> {
  const sums = new Map<number, { runs: number; seconds: number }>();
  const of = (prefix: number) => getOrMake(sums, prefix, () => ({ runs: 0, seconds: 0 }));
  const { lanes } = model.stream;
  if (!model.plots.includes(model.stream)) return sums;
  for (const use of lanes.rows.flatMap(({ partial }) => partial)) {
    const seconds = partialSeconds(use, start, stop);
    if (seconds !== 0) of(use.prefix).seconds += seconds;
  }
  for (const group of lanes.lanes.flat()) {
    const runs = visibleRuns(lanes, group, start, stop);
    if (runs === 0) continue;
    const sum = of(group.prefix);
    sum.runs += runs;
    sum.seconds += busySeconds(lanes, group, start, stop);
  }
  const { page, origin, stream } = model;
  const { section } = stream;
  const isVisible = (entry: number): boolean => {
    const [from, to] = [section.start[entry]! - origin, section.stop[entry]! - origin];
    return from < stop && (to > start || from >= start);
  };
  for (const entry of laterParts(section))
    if (isVisible(entry) && isVisible(entry - 1)) of(page.tasks.prefix[section.task[entry]!]!).runs--;
  return sums;
}

/** Entries of runs whose earlier entry is counted, too. */
const laterParts = oncePer((section: TaskSection) =>
  rowsWhere(section.task.length, (entry) => isLaterPart(section, entry)),
);
