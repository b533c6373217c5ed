// What a stretch of time holds: runs and seconds of each prefix, exact also where runs are too narrow to be drawn.
import type { ProfileModel } from './profileModel.js';
import { busySeconds, visibleRuns } from './streamDetail.js';
import type { TimeWindow } from './timeView.js';

export interface PrefixSum {
  /** Runs of which a part lies in the range. */
  readonly runs: number;
  /** Their seconds within the range. */
  readonly seconds: number;
}

/** By prefix index; prefixes without a run in the range are absent. Cost: some binary searches per lane and prefix. */
export function rangeSums(model: ProfileModel, { start, stop }: TimeWindow): Map<number, PrefixSum> {
  const sums = new Map<number, PrefixSum>();
  for (const plot of model.plots) {
    if (plot.type !== 'tasks') continue;
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
