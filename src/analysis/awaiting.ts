// What asynchronous tasks waited for: the share of their time in which their thread had nothing to do, by prefix.
import type { Trace } from '../trace/trace.js';
import { lanesOf } from './lanes.js';
import { actionOf, workIntervalsOf } from './workIntervals.js';

const known = new WeakMap<Trace, ReadonlyMap<number, number>>();

/**
 * Prefix (an id of the trace's strings) → share of the time of its tasks, 0 to 1; prefixes that never waited are not there. A
 * live trace keeps its last tasks and intervals only, from which the share is taken. Cost: two walks, once per trace.
 */
export function awaitedShares(trace: Trace): ReadonlyMap<number, number> {
  let shares = known.get(trace);
  if (shares === undefined) {
    shares = findShares(trace);
    known.set(trace, shares);
  }
  return shares;
}

function findShares(trace: Trace): Map<number, number> {
  const awaited = new Map<number, number>();
  const work = workIntervalsOf(trace);
  for (const row of work.spans.rows) {
    if (actionOf(work, row) !== 'await') continue;
    const seconds = work.stop[row]! - work.start[row]!;
    awaited.set(work.task[row]!, (awaited.get(work.task[row]!) ?? 0) + seconds);
  }
  const sums = new Map<number, { awaited: number; all: number }>();
  if (awaited.size === 0) return new Map();
  const { id, prefix, duration } = trace.tasks;
  for (const row of lanesOf(trace).spans.rows) {
    const sum = sums.get(prefix[row]!) ?? { awaited: 0, all: 0 };
    sums.set(prefix[row]!, sum);
    sum.all += duration[row]!;
    sum.awaited += Math.min(duration[row]!, awaited.get(id[row]!) ?? 0);
  }
  return new Map(
    [...sums].filter(([, sum]) => sum.awaited > 0).map(([name, sum]) => [name, sum.awaited / sum.all]),
  );
}
