// Reads from the metrics of a trace how long tasks waited for shared objects: locks, semaphores, events, queues and variables.
import { addTo, getOrMake } from '../base/lookUps.js';
import { CALL, CONTENDED, HELD, SHARED_CONTEXT, WAIT_FOR } from '../protocol/metrics.js';
import type { Trace } from '../trace/trace.js';

export interface SharedWait {
  /** E.g. `Lock 'x'`. */
  readonly object: string;
  /** Seconds in which at least one task waited, for locks and semaphores; 0 for other objects, which are no limit. */
  contended: number;
  /** Seconds of all leases in use during this time. */
  held: number;
  /** Seconds that all tasks waited, by prefix. */
  readonly byPrefix: Map<string, number>;
  /** Calls that were answered at once, by prefix. */
  readonly calls: Map<string, SharedCalls>;
}

interface SharedCalls {
  count: number;
  seconds: number;
}

/** Smallest share of a wait from which it is a wait for an object. */
const MIN_SHARE = 0.5;

/** Returns the seconds that tasks waited for shared objects, by prefix. */
export function sharedSeconds(trace: Trace): ReadonlyMap<string, number> {
  const seconds = new Map<string, number>();
  for (const { byPrefix } of sharedWaits(trace))
    for (const [prefix, waited] of byPrefix) addTo(seconds, prefix, waited);
  return seconds;
}

/**
 * Returns the object for which tasks of a prefix waited longest, e.g. `Queue 'q'`, if these waits can be at least half of `seconds`,
 * in which they awaited promises.
 */
export function awaitedObject(trace: Trace, prefix: string, seconds: number): string | undefined {
  const of = ({ byPrefix, calls }: SharedWait): number =>
    (byPrefix.get(prefix) ?? 0) + (calls.get(prefix)?.seconds ?? 0);
  const [most] = sharedWaits(trace).sort((a, b) => of(b) - of(a));
  return most !== undefined && of(most) > 0 && of(most) >= MIN_SHARE * seconds ? most.object : undefined;
}

/** Returns the event, variable or queue for which tasks of a prefix waited longest, all together; undefined without such waits. */
export function longestAwaited(
  trace: Trace,
): { readonly object: string; readonly prefix: string; readonly seconds: number } | undefined {
  return sharedWaits(trace)
    .filter(({ contended, held }) => contended === 0 && held === 0)
    .flatMap(({ object, byPrefix }) =>
      Array.from(byPrefix, ([prefix, seconds]) => ({ object, prefix, seconds })),
    )
    .sort((a, b) => b.seconds - a.seconds)[0];
}

/** Returns the object that tasks of a prefix called most, if these calls can be at least half of `seconds`, in which they awaited promises. */
export function calledObject(
  trace: Trace,
  prefix: string,
  seconds: number,
): (SharedCalls & Pick<SharedWait, 'object'>) | undefined {
  const [most] = sharedWaits(trace)
    .flatMap(({ object, calls }) => ({ object, count: 0, seconds: 0, ...calls.get(prefix) }))
    .sort((a, b) => b.seconds - a.seconds);
  return most !== undefined && most.count > 0 && most.seconds >= MIN_SHARE * seconds ? most : undefined;
}

function sharedWaits({ totals }: Trace): SharedWait[] {
  const waits = new Map<string, SharedWait>();
  const of = (object: string): SharedWait =>
    getOrMake(waits, object, () => ({
      object,
      contended: 0,
      held: 0,
      byPrefix: new Map(),
      calls: new Map(),
    }));
  for (const { context, prefix, activity, unit, value } of totals.metrics) {
    if (context === 'execute' && activity.startsWith(CALL)) {
      const calls = getOrMake(of(activity.slice(CALL.length)).calls, prefix, () => ({
        count: 0,
        seconds: 0,
      }));
      if (unit === 'count') calls.count += value;
      if (unit === 'milliseconds') calls.seconds += value / 1000;
    }
    if (context !== SHARED_CONTEXT) continue;
    if (activity.startsWith(CONTENDED)) of(activity.slice(CONTENDED.length)).contended += value;
    else if (activity.startsWith(HELD)) of(activity.slice(HELD.length)).held += value;
    else if (activity.startsWith(WAIT_FOR)) {
      const { byPrefix } = of(activity.slice(WAIT_FOR.length));
      addTo(byPrefix, prefix, value);
    }
  }
  return [...waits.values()];
}

/**
 * Returns the seconds in which tasks waited for the most contended lock or semaphore. A call waits only while all leases are in
 * use, and the tasks hold them for as long with any number of workers, so no number makes the run shorter.
 */
export function lockedSeconds(trace: Trace): number {
  return contendedLock(trace)?.contended ?? 0;
}

/** Returns the waits for the most contended lock or semaphore. */
export function contendedLock(trace: Trace): SharedWait | undefined {
  const waits = sharedWaits(trace).filter(({ contended, byPrefix }) => contended > 0 && byPrefix.size > 0);
  return waits.sort((a, b) => b.contended - a.contended)[0];
}
