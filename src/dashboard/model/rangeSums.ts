// Sums of runs and seconds per prefix in a range of time, exact even for runs that are too narrow to draw.
import type { ProfileModel } from './profileModel.js';
import { busySeconds, partialSeconds, visibleRuns } from './streamDetail.js';
import type { TimeWindow } from './timeView.js';

export interface PrefixSum {
  /** Number of runs that overlap the range. */
  readonly runs: number;
  /** Seconds of these runs within the range. */
  readonly seconds: number;
}

/**
 * Returns sums by prefix index, for prefixes with runs in the range. Cost: a few binary searches per lane and prefix.
 */
export function rangeSums(model: ProfileModel, { start, stop }: TimeWindow): Map<number, PrefixSum> {
  const sums = new Map<number, PrefixSum>();
  for (const plot of model.plots) {
    if (plot.type !== 'tasks') continue;
    for (const use of plot.lanes.rows.flatMap(({ partial }) => partial)) {
      const seconds = partialSeconds(use, start, stop);
      const before = sums.get(use.prefix);
      if (seconds !== 0)
        sums.set(use.prefix, { runs: before?.runs ?? 0, seconds: (before?.seconds ?? 0) + seconds });
    }
    for (const group of plot.lanes.lanes.flat()) {
      const runs = visibleRuns(plot.lanes, group, start, stop);
      if (runs === 0) continue;
      const before = sums.get(group.prefix);
      sums.set(group.prefix, {
        runs: (before?.runs ?? 0) + runs,
        seconds: (before?.seconds ?? 0) + busySeconds(plot.lanes, group, start, stop),
      });
    }
  }
  return sums;
}
