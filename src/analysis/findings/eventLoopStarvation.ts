import { countText, secondsText } from '../../base/words.js';
import type { Rule } from './finding.js';
import { MIN_DELAY, schedulerWaits } from './schedulerThread.js';

/**
 * The scheduler's event loop was blocked, by code of the program on its thread, while tasks waited for it. Costs the waits
 * for the scheduler on the critical path that fall into such times, after the first task has started, as far as it was the
 * program that computed.
 */
export const eventLoopStarvation: Rule = (facts) => {
  const { waits, blocked } = schedulerWaits(facts);
  const starved = waits.filter((wait) => wait.starved > 0);
  if (starved.length === 0) return undefined;
  const worst = blocked.reduce((most, { delay }) => Math.max(most, delay), 0);
  const seconds = starved.reduce((sum, wait) => sum + wait.starved, 0);
  return {
    code: 'event-loop-starvation',
    title: `The scheduler did not answer for ${secondsText(worst)}: its event loop was blocked`,
    seconds,
    confidence: 'high',
    evidence: {
      text: `${countText(blocked.length, 'sample')} saw its event loop late by ${secondsText(MIN_DELAY)} or more; tasks of the critical path waited ${secondsText(seconds)} for what the program computed meanwhile.`,
      numbers: { worstDelaySeconds: worst, samples: blocked.length },
      tasks: facts.keys(new Set(starved.map(({ row }) => row))),
      question: 'queueing',
    },
    advice:
      'Move what the program computes beside the run (parsing, sorting, synchronous I/O) into tasks, or into another process than the scheduler.',
  };
};
