import { bytesText, secondsText } from '../../base/words.js';
import { programTimes } from '../programTimes.js';
import { programTransfers } from '../programTransfers.js';
import { overlapSeconds } from '../spans.js';
import { clientSpans } from './clientTransfers.js';
import type { Facts, Finding } from './finding.js';

/** Seconds up to which a time is not reported: Node, a compiler and modules take seconds to load on a busy machine. */
const MIN_PART = 5;
/** Share of the time after the last task in which the program fetched results, from which this is its cause. */
const MIN_FETCHED = 0.5;

/**
 * The program ran longer before its first computation or after its last result than all of its computations took. The cost
 * is this time, in which no worker had a task.
 */
export function outsideComputations(facts: Facts): Finding | undefined {
  const { trace, makespan } = facts;
  const times = programTimes(trace);
  if (times === undefined) return undefined;
  const { before, after } = times;
  const seconds = Math.max(before, after);
  if (seconds < MIN_PART || seconds < makespan) return undefined;
  const fetched = before > after ? 0 : fetchSeconds(facts, after);
  const isFetch = fetched >= MIN_FETCHED * seconds;
  const when = before > after ? 'before its first computation' : 'after its last result';
  return {
    code: 'outside-computations',
    title: `${isFetch ? `The program fetched ${bytesText(fetchedBytes(facts))} of results for ${secondsText(fetched)} after its last task` : `The program ran for ${secondsText(seconds)} ${when}`}, and its computations took ${secondsText(makespan)}`,
    seconds,
    confidence: 'high',
    evidence: {
      text: `The program ran for ${secondsText(before)} before its first computation and for ${secondsText(after)} after its last result. The workers had no tasks meanwhile, and the other findings do not cover this time.`,
      numbers: { beforeSeconds: before, afterSeconds: after, fetchSeconds: fetched, makespan },
      tasks: [],
      question: 'critical-path',
    },
    advice: isFetch
      ? 'Fetch less: reduce or store results in tasks, or return typed arrays, which are unpacked faster than objects and strings.'
      : 'Do this work in tasks, which all workers share, or while tasks run.',
  };
}

/** Returns the seconds after the last task, of `after`, in which the program fetched results. */
function fetchSeconds(facts: Facts, after: number): number {
  const { stop } = facts.path;
  return overlapSeconds([{ start: stop, stop: stop + after }], clientSpans(facts, 'gather'));
}

/** Returns the bytes of the results that the program received after the last task. */
function fetchedBytes({ trace, path }: Facts): number {
  const { stop, nbytes } = trace.transfers;
  return programTransfers(trace, 'gather').reduce(
    (sum, row) => (stop[row]! > path.stop ? sum + nbytes[row]! : sum),
    0,
  );
}
