// Reads from the metrics of a trace how long tasks waited for locks and semaphores.
import { getOrMake } from '../base/lookUps.js';
import { CONTENDED, SHARED_CONTEXT, WAIT_FOR } from '../protocol/metrics.js';
import type { Trace } from '../trace/trace.js';

export interface LeaseWait {
  /** E.g. `Lock 'x'`. */
  readonly object: string;
  /** Seconds in which at least one task waited. */
  contended: number;
  /** Seconds that all tasks waited, by prefix. */
  readonly byPrefix: Map<string, number>;
}

/** Returns the seconds that tasks waited for locks and semaphores, by prefix. */
export function leaseSeconds(trace: Trace): ReadonlyMap<string, number> {
  const seconds = new Map<string, number>();
  for (const { byPrefix } of leaseWaits(trace))
    for (const [prefix, waited] of byPrefix) seconds.set(prefix, (seconds.get(prefix) ?? 0) + waited);
  return seconds;
}

/** Returns the waits by object, the longest contended first. */
export function leaseWaits({ totals }: Trace): LeaseWait[] {
  const waits = new Map<string, LeaseWait>();
  const of = (object: string): LeaseWait =>
    getOrMake(waits, object, () => ({ object, contended: 0, byPrefix: new Map() }));
  for (const { context, prefix, activity, value } of totals.metrics) {
    if (context !== SHARED_CONTEXT) continue;
    if (activity.startsWith(CONTENDED)) of(activity.slice(CONTENDED.length)).contended += value;
    else if (activity.startsWith(WAIT_FOR)) {
      const { byPrefix } = of(activity.slice(WAIT_FOR.length));
      byPrefix.set(prefix, (byPrefix.get(prefix) ?? 0) + value);
    }
  }
  return [...waits.values()]
    .filter(({ byPrefix }) => byPrefix.size > 0)
    .sort((a, b) => b.contended - a.contended);
}

/**
 * Returns the seconds in which tasks waited for the most contended lock or semaphore. A call waits only while all leases are in
 * use, and the tasks hold them for as long with any number of workers, so no number makes the run shorter.
 */
export function lockedSeconds(trace: Trace): number {
  return contendedLock(trace)?.contended ?? 0;
}

/** Returns the waits for the most contended lock or semaphore. */
export function contendedLock(trace: Trace): LeaseWait | undefined {
  return leaseWaits(trace)[0];
}
