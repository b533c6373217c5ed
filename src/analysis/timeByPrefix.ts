// Computes the time of the tasks of each prefix.
import { sortedOrder } from '../base/sortedOrder.js';
import type { Trace } from '../trace/trace.js';
import { recordsTransfers } from './programTransfers.js';
import { prefixesOfUnknownSize } from './resultSizes.js';
import { Table } from './table.js';
import { rowColumns } from './valuesColumn.js';

/**
 * Returns prefixes by the seconds of their tasks, longest first. Exact for the whole run, even if rows were evicted.
 */
export function timeByPrefix(trace: Trace): Table {
  const isMeasured = recordsTransfers(trace);
  const unknown = prefixesOfUnknownSize(trace);
  const totals = [...trace.totals.prefixes.values()];
  const all = totals.reduce((sum, { seconds }) => sum + seconds, 0);
  const { texts, numbers } = rowColumns(totals);
  const seconds = Float64Array.from(totals, (row) => row.seconds);
  return new Table(
    [
      texts('Prefix', ({ prefix }) => prefix),
      numbers('Duration (s)', (row) => row.seconds),
      numbers('Share (%)', (row) => (row.seconds / all) * 100),
      numbers('Tasks', ({ count }) => count),
      numbers('Erred', ({ erred }) => erred),
      numbers('Mean (s)', (row) => row.seconds / row.count),
      numbers('Shortest (s)', ({ shortest }) => shortest),
      numbers('Longest (s)', ({ longest }) => longest),
      numbers('Results (MB)', ({ prefix, nbytes }) =>
        isMeasured || (nbytes > 0 && !unknown.has(prefix)) ? nbytes / 1e6 : Number.NaN,
      ),
    ],
    { order: sortedOrder(seconds, true) },
  );
}
