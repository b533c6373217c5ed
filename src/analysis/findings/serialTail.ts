import { profilerSeconds } from '../profilerStarts.js';
import type { Facts, Rule } from './finding.js';
import { MIN_BUSY, MIN_SHARE, SERIAL, serialFinding } from './serialFinding.js';

/**
 * At most one task ran at a time in the last tenth of the run or longer. The cost is the part of this time that the
 * idle threads could have saved. If the tail is one straggler, 'stragglers' reports it.
 */
export const serialTail: Rule = (facts) => {
  const { makespan, workers, path } = facts;
  const tail = tailSeconds(facts) - profilerInTail(facts);
  if (workers < 2 || tail < MIN_SHARE * makespan || tail >= makespan) return undefined;
  const start = path.stop - tail;
  if (!(facts.firstStart < start)) return undefined;
  if (facts.runningBetween(facts.firstStart, start) < MIN_BUSY * workers) return undefined;
  return serialFinding(facts, 'serial-tail', start, path.stop);
};

/** Returns the seconds in which profilers started during the tail, which other threads could not have shortened. */
function profilerInTail(facts: Facts): number {
  const { trace, path } = facts;
  const from = path.stop - tailSeconds(facts);
  let seconds = 0;
  for (let worker = 0; worker < trace.workers.length; worker++)
    seconds += profilerSeconds(trace, worker, from, path.stop);
  return seconds;
}

/** Returns the seconds at the end of the run in which at most one task ran at a time. */
export function tailSeconds({ running, makespan }: Facts): number {
  let bin = running.length;
  while (bin > 0 && running[bin - 1]! <= SERIAL) bin--;
  return ((running.length - bin) / running.length) * makespan;
}
