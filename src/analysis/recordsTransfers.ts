// What is not recorded is not 0: local schedulers and some other tools record neither the movements nor the sizes of results.
import type { Trace } from '../trace/trace.js';

/**
 * Whether the trace would have the transfers and the sizes of results, if there were any. Workers of clusters have addresses under
 * which others reach them. Workers of local schedulers have none, and record no transfers.
 */
export function recordsTransfers({ workers, totals, transfers, strings }: Trace): boolean {
  if (totals.pairs.length > 0 || transfers.length > 0) return true;
  return workers.address.some((address) => address >= 0 && strings.get(address) !== '');
}
