// Finds out whether the tasks of a serial time span ran late because threads ran other tasks first, although they were ready, or
// because they had to continue on the worker on which they had begun.
import { getOrMake } from '../../base/lookUps.js';
import { workerName } from '../../trace/trace.js';
import { readyTimes } from '../attempts.js';
import type { Facts } from './finding.js';

/** Ratio of this wait to the serial time span that followed, from which an earlier start would have saved most of the span. */
const MIN_RATIO = 0.5;
/** Share of the work during this wait that tasks of one other prefix take. */
const MIN_BEHIND = 0.5;
/** Share of the tasks of a span that must have begun before it on one worker. */
const MIN_BEGUN = 0.9;
/** Most tasks of a chain that are visited. */
const MAX_CHAIN = 10_000;

export interface HeldBack {
  /** Seconds for which the chain was ready. */
  readonly seconds: number;
  /** The prefix of the tasks that ran meanwhile. */
  readonly behind: string;
}

/**
 * Returns for how long a task, or one of the tasks of its prefix that it follows, was ready while threads ran tasks of another
 * prefix; undefined if it did not wait for these, or too short. Cost: a walk along the chain, and one over the tasks.
 *
 * @param span seconds in which only the chain ran
 */
export function heldBack(facts: Facts, row: number, span: number): HeldBack | undefined {
  const wait = longestWait(facts, row);
  if (wait.stop - wait.start < MIN_RATIO * span) return undefined;
  const { started, stopped, prefix } = facts.trace.tasks;
  const seconds = new Map<number, number>();
  let all = 0;
  for (const other of facts.lanes.spans.rows) {
    const inside = Math.min(stopped[other]!, wait.stop) - Math.max(started[other]!, wait.start);
    if (!(inside > 0)) continue;
    all += inside;
    seconds.set(prefix[other]!, getOrMake(seconds, prefix[other]!, () => 0) + inside);
  }
  const [most] = [...seconds].sort((a, b) => b[1] - a[1]);
  if (most === undefined || most[0] === prefix[row] || most[1] < MIN_BEHIND * all) return undefined;
  return { seconds: wait.stop - wait.start, behind: facts.prefixName(most[0]) };
}

/** Returns the longest time for which a task of the chain before and including `last` was ready. */
function longestWait({ trace, firstStart }: Facts, last: number): { start: number; stop: number } {
  const { started, stopped, prefix, dependencyOffsets, dependencyRows } = trace.tasks;
  const ready = readyTimes(trace);
  let longest = { start: 0, stop: 0 };
  let row = last;
  for (let steps = 0; row >= 0 && steps < MAX_CHAIN; steps++) {
    const start = Math.max(ready[row]!, firstStart);
    if (started[row]! - start > longest.stop - longest.start) longest = { start, stop: started[row]! };
    const needed = dependencyRows.subarray(dependencyOffsets[row]!, dependencyOffsets[row + 1]!);
    let latest = -1;
    for (const one of needed)
      if (one >= 0 && prefix[one] === prefix[last] && !(latest >= 0 && stopped[latest]! > stopped[one]!))
        latest = one;
    row = latest;
  }
  return longest;
}

/**
 * Returns the name of the worker on which nearly all of these tasks had begun and left their slots before `start`, e.g. to wait for
 * an event: they can continue nowhere else. Undefined if there is no such worker.
 */
export function continuedOn({ trace }: Facts, rows: readonly number[], start: number): string | undefined {
  const { seceded, worker } = trace.tasks;
  const begun = rows.filter((row) => seceded[row]! < start && worker[row] === worker[rows[0]!]);
  if (rows.length < 2 || begun.length < MIN_BEGUN * rows.length || worker[rows[0]!]! < 0) return undefined;
  return workerName(trace, worker[rows[0]!]!);
}
