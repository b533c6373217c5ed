// Distinguishes a trace without transfers from a trace in which transfers were not recorded. Local schedulers and some
// other tools record neither transfers nor sizes of results.
import { checkArgument, TRACE } from '../base/arguments.js';
import type { Trace } from '../trace/trace.js';

/**
 * Returns true if the recorder records transfers and sizes of results: if the trace has transfers, or if its workers
 * have addresses. Workers of local schedulers have no addresses and record no transfers.
 */
export function recordsTransfers(trace: Trace): boolean {
  checkArgument('recordsTransfers(): trace', trace, TRACE);
  const { workers, totals, transfers, strings } = trace;
  if (totals.pairs.length > 0 || transfers.length > 0) return true;
  return workers.address.some((address) => address >= 0 && strings.get(address) !== '');
}
