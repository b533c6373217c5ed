import { countText, secondsText } from '../../base/words.js';
import { pausesOf } from '../pauses.js';
import { spilledText } from '../spilledResults.js';
import type { Rule } from './finding.js';
import { memoryNeeded } from './memoryNeeded.js';

/**
 * Workers paused because their memory was short, and the critical path waited for these workers. The cost is the time
 * in which the path waited for paused workers or for the disk.
 */
export const memoryBound: Rule = (facts) => {
  const paused = facts.onPath('paused');
  if (paused === 0) return undefined;
  const disk = facts.onPath('disk');
  const pauses = [...pausesOf(facts.trace).values()].flat();
  const { limit, enough, advice } = memoryNeeded(facts);
  const { spilled } = facts.trace.totals;
  return {
    code: 'memory-bound',
    title: `Memory was short: the run waited ${secondsText(paused + disk)} for paused workers and for disks`,
    seconds: paused + disk,
    confidence: 'high',
    evidence: {
      text: `Workers made ${countText(pauses.length, 'pause')}. The critical path waited ${secondsText(paused)} for them${disk > 0 ? `, and ${secondsText(disk)} for disks` : ''}. ${spilledText(facts.trace)} were written to disk.`,
      numbers: {
        pausedSeconds: paused,
        diskSeconds: disk,
        pauses: pauses.length,
        spilledBytes: spilled,
        memoryLimit: limit,
        enoughBytes: enough,
      },
      tasks: facts.pathTasks('paused'),
      question: 'memory-by-prefix',
    },
    advice,
  };
};
