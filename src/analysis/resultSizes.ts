// Finds results whose sizes a local scheduler did not record, so that no sum of the others looks like the size of all.
import { oncePer } from '../base/lookUps.js';
import { TASK_MEMORY } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';
import { recordsTransfers } from './programTransfers.js';

const NONE: ReadonlySet<string> = new Set();

/** Returns the prefixes with a result of unknown size. Empty for clusters, which know all sizes. */
export const prefixesOfUnknownSize = oncePer((trace: Trace): ReadonlySet<string> => {
  if (recordsTransfers(trace)) return NONE;
  const { state, nbytes, prefix } = trace.tasks;
  const ids = new Set(prefix.filter((_id, row) => state[row] === TASK_MEMORY && Number.isNaN(nbytes[row]!)));
  return new Set(Array.from(ids, (id) => (id < 0 ? '' : trace.strings.get(id))));
});
