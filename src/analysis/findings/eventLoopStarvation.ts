import { countText, secondsText } from '../../base/words.js';
import type { Span } from '../spans.js';
import type { Facts, Rule } from './finding.js';
import { coreWaitText, isCause } from './ownThread.js';
import { MIN_DELAY, schedulerWaits } from './schedulerThread.js';

/**
 * Code of the program blocked the scheduler's event loop while tasks waited for the scheduler. The cost is the part of
 * these waits on the critical path, after the first task's start, in which the program computed, or waited for a core in
 * order to.
 */
export const eventLoopStarvation: Rule = (facts) => {
  const { waits, blocked } = schedulerWaits(facts);
  const { seconds, computed } = starvedSeconds(facts);
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
      tasks: facts.keys(new Set(waits.filter(({ starved }) => starved > 0).map(({ row }) => row))),
      question: 'queueing',
    },
    advice:
      "Move the program's computations (parsing, sorting, synchronous I/O) into tasks, or run the scheduler in another process.",
  };
};

/** Returns the times in which the event loop was blocked if the program was the cause; otherwise none. */
export function blockedByProgram(facts: Facts): readonly Span[] {
  const { seconds, computed } = starvedSeconds(facts);
  return isCause(facts, computed, seconds - computed) ? schedulerWaits(facts).blocked : [];
}

function starvedSeconds(facts: Facts): { readonly seconds: number; readonly computed: number } {
  const { waits } = schedulerWaits(facts);
  return {
    seconds: waits.reduce((sum, { starved }) => sum + starved, 0),
    computed: waits.reduce((sum, wait) => sum + wait.computed, 0),
  };
}
