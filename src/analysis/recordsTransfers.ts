// Distinguishes a trace without transfers from a trace in which transfers were not recorded. Local schedulers and some
// other tools record neither transfers nor sizes of results.
import { checkArgument, TRACE } from '../base/arguments.js';
import type { Trace } from '../trace/trace.js';

/**
 * Returns true if the recorder records transfers and sizes of results: if the trace has transfers between workers or over
 * connections, or if its workers have addresses. Workers of local schedulers have no addresses. Their traces have only
 * large copies by the program's thread.
 */
export function recordsTransfers(trace: Trace): boolean {
  checkArgument('recordsTransfers(): trace', trace, TRACE);
  const { workers, totals, transfers, strings } = trace;
  if (totals.pairs.some(({ from, to, compressed }) => (from >= 0 && to >= 0) || compressed > 0)) return true;
  if (transfers.compressed.some((compressed) => compressed > 0) || transfers.peer.some((peer) => peer >= 0))
    return true;
  return workers.address.some((address) => address >= 0 && strings.get(address) !== '');
}
