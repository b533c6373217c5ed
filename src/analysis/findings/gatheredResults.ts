import { bytesText, countText, secondsText } from '../../base/words.js';
import { clientTransfers } from './clientTransfers.js';
import type { Facts, Rule } from './finding.js';

/** What is smaller is seldom worth a thought, and travels with the message that its task has ended. */
const MIN_BYTES = 1e6;
/** Share of what was fetched that went back to the workers, from where it is taken for the same. */
const SENT_BACK = 0.5;

/**
 * The client fetched results that later tasks used on the workers, or that it sent back: they could have stayed.
 * Costs the part of the critical path in which fetching was all that happened.
 */
export const gatheredResults: Rule = (facts) => {
  const { rows, nbytes, onPath } = clientTransfers(facts, 'gather');
  if (nbytes < MIN_BYTES) return undefined;
  const again = usedAgain(facts, rows);
  const sentBack = bytesSentBack(facts, rows);
  if (again.length === 0 && sentBack < SENT_BACK * nbytes) return undefined;
  return {
    code: 'gathered-results',
    title: `The client fetched ${bytesText(nbytes)} of results that went on to be used on the workers`,
    seconds: onPath,
    confidence: 'medium',
    evidence: {
      text: `The critical path waited ${secondsText(onPath)} for results to reach the client and to be unpacked; ${again.length > 0 ? `${countText(again.length, 'result')} went into later tasks` : `then it sent ${bytesText(sentBack)} to the workers`}.`,
      numbers: { nbytes, transfers: rows.length, usedAgain: again.length, sentBackBytes: sentBack },
      tasks: again.length > 0 ? again.slice(0, 5) : keysOf(facts, rows),
      question: 'transfers-by-pair',
    },
    advice:
      'Keep intermediate results on the workers: persist them, pass futures to the next step, and fetch only the last result.',
  };
};

function keysOf({ trace: { transfers, keys } }: Facts, rows: readonly number[]): string[] {
  return rows
    .filter((row) => transfers.keyOffsets[row + 1]! > transfers.keyOffsets[row]!)
    .slice(0, 5)
    .map((row) => keys.get(transfers.keys[transfers.keyOffsets[row]!]!));
}

/** What the client sent after it had fetched the first of these results. */
function bytesSentBack(facts: Facts, rows: readonly number[]): number {
  const { stop, start, nbytes } = facts.trace.transfers;
  const first = rows.reduce((earliest, row) => Math.min(earliest, stop[row]!), Number.POSITIVE_INFINITY);
  const sent = clientTransfers(facts, 'scatter').rows.filter((row) => start[row]! >= first);
  return sent.reduce((sum, row) => sum + nbytes[row]!, 0);
}

/** Keys of fetched results that tasks needed which started after they had been fetched. */
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
