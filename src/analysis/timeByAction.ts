// Computes what the workers did with their time.
import { sortedOrder } from '../base/sortedOrder.js';
import type { Trace } from '../trace/trace.js';
import { keptShare } from './findings/metricSeconds.js';
import { windowOf } from './path/pathWalk.js';
import { rowColumns, Table } from './table.js';
import { threadsTogether } from './workerLives.js';

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
  return new Table(
    [
      texts('Action', ({ action }) => action),
      seconds,
      numbers('Share of worker time (%)', (row) => (row.seconds / available) * 100),
      numbers('Count', ({ count }) => count),
      numbers('Size (MB)', ({ nbytes }) => nbytes / 1e6),
      numbers('Throughput (MB/s)', ({ action, nbytes, seconds: took }) =>
        action !== 'compute' && nbytes > 0 && took > 0 ? nbytes / took / 1e6 : Number.NaN,
      ),
    ],
    { order: sortedOrder(seconds.numbers, true) },
  );
}
