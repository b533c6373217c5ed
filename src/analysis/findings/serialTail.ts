import { profilerSeconds } from '../profilerStarts.js';
import type { Facts, Rule } from './finding.js';
import { MIN_BUSY, MIN_SHARE, SERIAL, serialFinding } from './serialFinding.js';

/**
 * The end of the run, from where on only one task ran at a time, is at least a tenth of it. Costs what more threads could
 * have taken over. A tail that is one straggler is told by that rule.
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

/** A profiler that starts while the others have nothing left to do is no work that could be divided. */
function profilerInTail(facts: Facts): number {
  const { trace, path } = facts;
  const from = path.stop - tailSeconds(facts);
  let seconds = 0;
  for (let worker = 0; worker < trace.workers.length; worker++)
    seconds += profilerSeconds(trace, worker, from, path.stop);
  return seconds;
}

/** Seconds at the end of the run in which at most one task ran at a time. */
export function tailSeconds({ running, makespan }: Facts): number {
  let bin = running.length;
  while (bin > 0 && running[bin - 1]! <= SERIAL) bin--;
  return ((running.length - bin) / running.length) * makespan;
}
