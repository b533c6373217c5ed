// Computes the time of the tasks of each prefix, and what the workers did with their time.
import type { PrefixTotals } from '../trace/totals.js';
import type { Trace } from '../trace/trace.js';
import { keptShare } from './findings/metricSeconds.js';
import { windowOf } from './path/pathWalk.js';
import { prefixesOfUnknownSize, recordsTransfers } from './programTransfers.js';
import { descendingTable, rowColumns, type Table } from './table.js';
import { taskCounts } from './taskCounts.js';
import { threadsTogether } from './workerLives.js';

/**
 * Returns prefixes by the seconds of their tasks, longest first. Exact for the whole run, even if rows were evicted. `Tasks`
 * excludes tasks that did not run because another task failed. A task that ran again counts once, and has erred if its last run failed.
 * `Mean (s)` is over runs with a duration.
 */
export function timeByPrefix(trace: Trace): Table {
  const isMeasured = recordsTransfers(trace);
  const unknown = prefixesOfUnknownSize(trace);
  const totals = [...trace.totals.prefixes.values()];
  const countsOf = taskCounts(trace);
  const all = totals.reduce((sum, { seconds }) => sum + seconds, 0);
  const { texts, numbers } = rowColumns(totals);
  const seconds = numbers('Duration (s)', (row) => row.seconds);
  return descendingTable(seconds.numbers, [
    texts('Prefix', ({ prefix }) => prefix),
    seconds,
    numbers('Share (%)', (row) => (row.seconds / all) * 100),
    numbers('Tasks', (row) => countsOf(row).tasks),
    numbers('Erred', (row) => countsOf(row).failed),
    numbers('Mean (s)', (row) =>
      Number.isNaN(row.shortest) ? Number.NaN : row.seconds / (timedRuns(row) || countsOf(row).runs),
    ),
    numbers('Shortest (s)', ({ shortest }) => shortest),
    numbers('Longest (s)', ({ longest }) => longest),
    numbers('Results (MB)', ({ prefix, nbytes }) =>
      isMeasured || (nbytes > 0 && !unknown.has(prefix)) ? nbytes / 1e6 : Number.NaN,
    ),
  ]);
}

/** Returns the number of runs with a duration. Lost and cancelled runs may have none. Unknown during a run: 0. */
function timedRuns({ durations }: PrefixTotals): number {
  return durations.reduce((sum, runs) => sum + runs, 0);
}

/**
 * Returns actions by their seconds, longest first. Shares relate to the time of all threads. They may add up to more
 * than 100 %, because an action such as a transfer can run besides a task. Seconds are exact for the whole run. If a
 * live trace has evicted rows, shares assume that the evicted part was like the remaining one.
 */
export function timeByAction(trace: Trace): Table {
  const { actions } = trace.totals;
  const { start, stop } = windowOf(trace);
  const available = ((stop - start) * threadsTogether(trace)) / keptShare(trace);
  const { texts, numbers } = rowColumns(actions);
  const seconds = numbers('Duration (s)', (row) => row.seconds);
  return descendingTable(seconds.numbers, [
    texts('Action', ({ action }) => action),
    seconds,
    numbers('Share of worker time (%)', (row) => (row.seconds / available) * 100),
    numbers('Count', ({ count }) => count),
    numbers('Size (MB)', ({ nbytes }) => nbytes / 1e6),
    numbers('Throughput (MB/s)', ({ action, nbytes, seconds: took }) =>
      action !== 'compute' && nbytes > 0 && took > 0 ? nbytes / took / 1e6 : Number.NaN,
    ),
  ]);
}
