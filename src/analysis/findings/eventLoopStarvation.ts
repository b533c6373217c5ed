import { countText, secondsText } from '../../base/words.js';
import type { Rule } from './finding.js';
import { coreWaitText, isCause } from './ownThread.js';
import { MIN_DELAY, schedulerWaits } from './schedulerThread.js';

/**
 * Code of the program blocked the scheduler's event loop while tasks waited for the scheduler. The cost is the part of
 * these waits on the critical path, after the first task's start, in which the program computed, or waited for a core in
 * order to.
 */
export const eventLoopStarvation: Rule = (facts) => {
  const { waits, blocked } = schedulerWaits(facts);
  const starved = waits.filter((wait) => wait.starved > 0);
  const seconds = starved.reduce((sum, wait) => sum + wait.starved, 0);
  const computed = starved.reduce((sum, wait) => sum + wait.computed, 0);
  if (!isCause(facts, computed, seconds - computed)) return undefined;
  const worst = blocked.reduce((most, { delay }) => Math.max(most, delay), 0);
  return {
    code: 'event-loop-starvation',
    title: `The scheduler did not answer for up to ${secondsText(worst)}, because its event loop was blocked`,
    seconds,
    confidence: 'high',
    evidence: {
      text: `In ${countText(blocked.length, 'sample')} the event loop was at least ${secondsText(MIN_DELAY)} late. Tasks on the critical path waited ${secondsText(seconds)} while the program computed on the scheduler's thread${coreWaitText(seconds, seconds - computed)}.`,
      numbers: { worstDelaySeconds: worst, samples: blocked.length, computedSeconds: computed },
      tasks: facts.keys(new Set(starved.map(({ row }) => row))),
      question: 'queueing',
    },
    advice:
      "Move the program's computations (parsing, sorting, synchronous I/O) into tasks, or run the scheduler in another process.",
  };
};
