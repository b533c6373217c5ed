import { secondsText } from '../../base/words.js';
import { programTimes } from '../programTimes.js';
import type { Facts, Finding } from './finding.js';

/** Seconds up to which a time is not reported: Node, a compiler and modules take seconds to load on a busy machine. */
const MIN_PART = 5;

/**
 * The program ran longer before its first computation or after its last result than all of its computations took. The cost
 * is this time, in which no worker had a task.
 */
export function outsideComputations({ trace, makespan }: Facts): Finding | undefined {
  const times = programTimes(trace);
  if (times === undefined) return undefined;
  const { before, after } = times;
  const seconds = Math.max(before, after);
  if (seconds < MIN_PART || seconds < makespan) return undefined;
  const when = before > after ? 'before its first computation' : 'after its last result';
  return {
    code: 'outside-computations',
    title: `The program ran for ${secondsText(seconds)} ${when}, and its computations took ${secondsText(makespan)}`,
    seconds,
    confidence: 'high',
    evidence: {
      text: `The program ran for ${secondsText(before)} before its first computation and for ${secondsText(after)} after its last result. The workers had no tasks meanwhile, and the other findings do not cover this time.`,
      numbers: { beforeSeconds: before, afterSeconds: after, makespan },
      tasks: [],
      question: 'critical-path',
    },
    advice: 'Do this work in tasks, which all workers share, or while tasks run.',
  };
}
