// Finds tasks of Dask that wait for a lock or semaphore of Dask. The trace has no such waits, but samples of their threads.
import { largestOf, oncePer } from '../../base/lookUps.js';
import { percentText, secondsText } from '../../base/words.js';
import type { Trace } from '../../trace/trace.js';
import type { Facts, Found } from './finding.js';
import { sampledShares, shareSeconds } from './sampledShares.js';

/** Share of the samples of a prefix from which its tasks wait for locks. Two tasks in turn each wait for half of their time. */
const MIN_SHARE = 0.3;
/** Matches the files of Dask's locks and semaphores. */
const FILES = /\bdistributed[/\\](lock|semaphore)\.py$/;

/** Returns the share of samples in which tasks acquire a lock or semaphore of Dask, by prefix, if it is large. Cost: a walk over the samples. */
export const daskLockShares = oncePer((trace: Trace) =>
  sampledShares(trace, MIN_SHARE, (name, file) => name === 'acquire' && FILES.test(file)),
);

/** Returns the finding about the prefix that waits longest for locks of Dask. */
export function daskLocks(facts: Facts): Found | undefined {
  const { prefix } = facts.trace.tasks;
  const worst = largestOf(shareSeconds(facts, daskLockShares(facts.trace)));
  if (worst === undefined) return undefined;
  const [id, seconds] = worst;
  const name = facts.prefixName(id);
  return {
    code: 'lock-contention',
    title: `Tasks of '${name}' wait for a lock or semaphore of Dask for ${percentText(daskLockShares(facts.trace).get(id)!)} of their time`,
    seconds: facts.secondsOfRun(seconds),
    confidence: 'medium',
    text: `According to the samples of their threads, they waited for ${secondsText(seconds)}. More workers do not change this.`,
    numbers: { waitedSeconds: seconds, workers: facts.workers },
    tasks: facts.keys(facts.lanes.spans.rows.filter((row) => prefix[row] === id)),
    question: 'critical-path',
    advice:
      'Hold the lock only for the work that needs it: compute, read and wait before or after. Or use one lock for each thing that is protected, e.g. for each file, or a semaphore with more leases.',
  };
}
