import { bytesText, secondsText } from '../../base/words.js';
import { ACTIONS } from '../../protocol/clusterObserver.js';
import { MEMORY_TARGET } from '../simulation/conditions.js';
import type { Facts, Rule } from './finding.js';

/** Results went to disk because memory was short, and the critical path waited for the disk. Costs that time. */
export const spillBound: Rule = (facts) => {
  const seconds = facts.onPath('disk');
  const { spilled } = facts.trace.totals;
  if (seconds === 0 || spilled === 0) return undefined;
  const limit = memoryLimit(facts);
  const enough = mostHeld(facts) / MEMORY_TARGET;
  const hint =
    enough > limit && limit > 0
      ? `A memory limit of ${bytesText(enough)} per worker instead of ${bytesText(limit)} would have kept all results in memory; else use smaller blocks.`
      : 'Raise the memory limit, use smaller blocks, or reduce early what is held for long.';
  return {
    code: 'spill-bound',
    title: `Memory was short: ${bytesText(spilled)} of results went to disk`,
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
    advice: hint,
  };
};

function memoryLimit({ trace }: Facts): number {
  const limits = trace.workers.memoryLimit.filter((limit) => limit > 0);
  return limits.length === 0 ? 0 : Math.min(...limits);
}

/** Bytes that one worker held at most, in memory and on disk. */
function mostHeld({ trace }: Facts): number {
  const { length, managed, spilled } = trace.memory;
  let most = 0;
  for (let row = 0; row < length; row++) most = Math.max(most, (managed[row]! || 0) + (spilled[row]! || 0));
  return most;
}

function diskSeconds({ trace }: Facts): number {
  const { length, action, start, stop } = trace.intervals;
  let seconds = 0;
  for (let row = 0; row < length; row++)
    if (ACTIONS[action[row]!]?.startsWith('disk') === true) seconds += stop[row]! - start[row]!;
  return seconds;
}
