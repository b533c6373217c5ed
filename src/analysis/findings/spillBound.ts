import { secondsText } from '../../base/words.js';
import { ACTIONS } from '../../protocol/clusterObserver.js';
import { spilledText } from '../spilledResults.js';
import type { Facts, Rule } from './finding.js';
import { memoryNeeded } from './memoryNeeded.js';

/**
 * Memory was short, and the critical path waited for the disk while results were spilled or read back. Costs this time.
 */
export const spillBound: Rule = (facts) => {
  const seconds = facts.onPath('disk');
  const { spilled } = facts.trace.totals;
  if (seconds === 0 || spilled === 0) return undefined;
  const { limit, enough, advice } = memoryNeeded(facts);
  return {
    code: 'spill-bound',
    title: `Memory was short: ${spilledText(facts.trace)} were written to disk`,
    seconds,
    confidence: 'high',
    evidence: {
      text: `The critical path waited ${secondsText(seconds)} for the disk.`,
      numbers: {
        spilledBytes: spilled,
        memoryLimit: limit,
        enoughBytes: enough,
        diskSeconds: diskSeconds(facts),
      },
      tasks: facts.pathTasks('disk'),
      question: 'memory-by-prefix',
    },
    advice,
  };
};

function diskSeconds({ trace }: Facts): number {
  const { length, action, start, stop } = trace.intervals;
  let seconds = 0;
  for (let row = 0; row < length; row++)
    if (ACTIONS[action[row]!]?.startsWith('disk') === true) seconds += stop[row]! - start[row]!;
  return seconds;
}
