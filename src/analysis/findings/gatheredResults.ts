import { bytesText, countText, secondsText } from '../../base/words.js';
import { clientTransfers } from './clientTransfers.js';
import type { Facts, Rule } from './finding.js';

const MIN_BYTES = 10e6;

/**
 * The client fetched large results that later tasks used on the workers, or that it sent back: they could have stayed.
 * Costs the part of the critical path in which fetching was all that happened.
 */
export const gatheredResults: Rule = (facts) => {
  const { rows, nbytes, onPath } = clientTransfers(facts, 'gather');
  if (nbytes < MIN_BYTES) return undefined;
  const again = usedAgain(facts, rows);
  if (again.length === 0) return undefined;
  return {
    code: 'gathered-results',
    title: `The client fetched ${bytesText(nbytes)} of results that went on to be used on the workers`,
    seconds: onPath,
    confidence: 'medium',
    evidence: {
      text: `The critical path waited ${secondsText(onPath)} for results to reach the client; ${countText(again.length, 'result')} went into later tasks.`,
      numbers: { nbytes, transfers: rows.length, usedAgain: again.length },
      tasks: again.slice(0, 5),
      question: 'transfers-by-pair',
    },
    advice:
      'Keep intermediate results on the workers: persist them, pass futures to the next step, and fetch only the last result.',
  };
};

/** Keys of fetched results that tasks needed which started after they had been fetched, or that were sent back. */
function usedAgain({ trace }: Facts, rows: readonly number[]): string[] {
  const { transfers, tasks, keys } = trace;
  const fetched = new Map<number, number>();
  for (const row of rows) {
    for (let i = transfers.keyOffsets[row]!; i < transfers.keyOffsets[row + 1]!; i++) {
      const key = transfers.keys[i]!;
      fetched.set(key, Math.min(fetched.get(key) ?? Number.POSITIVE_INFINITY, transfers.stop[row]!));
    }
  }
  const used = new Set<number>();
  for (let row = 0; row < tasks.length; row++) {
    for (let edge = tasks.dependencyOffsets[row]!; edge < tasks.dependencyOffsets[row + 1]!; edge++) {
      const key = tasks.dependencies[edge]!;
      const time = fetched.get(key);
      const later = tasks.submitted[row]! >= 0 ? tasks.submitted[row]! : tasks.started[row]!;
      if (time !== undefined && later >= time) used.add(key);
    }
  }
  return [...used].map((key) => keys.get(key));
}
