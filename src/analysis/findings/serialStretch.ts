import { readyTimes } from '../attempts.js';
import type { Facts, Rule } from './finding.js';
import { MIN_BUSY, MIN_SHARE, SERIAL, serialFinding } from './serialFinding.js';
import { tailSeconds } from './serialTail.js';

/** Mean number of running tasks below which the run waits for something other than tasks. */
const NOTHING = 0.5;

/**
 * Tasks ran one after the other for a tenth of the run or longer, before its end, and no task was ready for the other
 * threads. All threads had run a task before. The cost is the part of this time that the idle threads could have saved.
 */
export const serialStretch: Rule = (facts) => {
  const { makespan, workers, path } = facts;
  if (workers < 2) return undefined;
  const found = longestStretch(facts);
  if (found === undefined) return undefined;
  const { start, stop } = found;
  const seconds = stop - start;
  if (seconds < MIN_SHARE * makespan || isAnyReady(facts, (start + stop) / 2)) return undefined;
  const before = facts.runningBetween(path.start, start) * (start - path.start);
  const after = facts.runningBetween(stop, path.stop) * (path.stop - stop);
  if (before + after < MIN_BUSY * workers * (facts.active - seconds)) return undefined;
  return serialFinding(facts, 'serial-stretch', start, stop);
};

/** Returns the longest serial span, in seconds, after every thread's first task and before the serial tail. */
function longestStretch(facts: Facts): { start: number; stop: number } | undefined {
  const { running, path, makespan } = facts;
  const seconds = makespan / running.length;
  const isSerial = (bin: number): boolean => running[bin]! <= SERIAL && running[bin]! > NOTHING;
  const end = Math.round(running.length - tailSeconds(facts) / seconds);
  let longest: { from: number; to: number } | undefined;
  let from = Math.ceil((allStarted(facts) - path.start) / seconds);
  while (from < end) {
    let to = from;
    while (to < end && isSerial(to)) to++;
    if (to > from && to - from > (longest === undefined ? 0 : longest.to - longest.from))
      longest = { from, to };
    from = to + 1;
  }
  return longest && { start: path.start + longest.from * seconds, stop: path.start + longest.to * seconds };
}

/** Returns the time at which every thread had started its first task. */
function allStarted({ lanes, trace }: Facts): number {
  let last = Number.NEGATIVE_INFINITY;
  for (let lane = 0; lane < lanes.count; lane++)
    last = Math.max(last, trace.tasks.started[lanes.spans.rows[lanes.offsets[lane]!]!]!);
  return last;
}

/** Returns true if a task that had not started was ready at this time, with all its dependencies computed. */
function isAnyReady({ lanes, trace }: Facts, time: number): boolean {
  const { started, stopped, dependencyOffsets, dependencyRows } = trace.tasks;
  const ready = readyTimes(trace);
  const needsLater = (row: number): boolean =>
    dependencyRows
      .subarray(dependencyOffsets[row], dependencyOffsets[row + 1])
      .some((needed) => needed >= 0 && stopped[needed]! > time);
  return lanes.spans.rows.some((row) => ready[row]! <= time && started[row]! > time && !needsLater(row));
}
