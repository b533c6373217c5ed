import { bytesText, countText, secondsText } from '../../base/words.js';
import { bothOnPath, clientTransfers } from './clientTransfers.js';
import type { Facts, Rule } from './finding.js';

/** Minimum number of bytes in total. Small results travel inside the message that their task has finished. */
const MIN_BYTES = 1e6;
/** Ratio of sent to fetched bytes, from which the client may have sent back the fetched data. */
const SENT_BACK = 0.5;

/**
 * The client fetched results that later tasks used on the workers, or that the client sent back. Such results could
 * have stayed on the workers. The cost is the part of the critical path with nothing but these transfers, in both directions if
 * the client sent back as much as it had fetched.
 */
export const gatheredResults: Rule = (facts) => {
  const { rows, nbytes, onPath } = clientTransfers(facts, 'gather');
  if (nbytes < MIN_BYTES) return undefined;
  const again = usedAgain(facts, rows);
  const sent = bytesSentBack(facts, rows);
  if (again.length === 0 && sent < SENT_BACK * nbytes) return undefined;
  const isBack = sendsBack(facts);
  const seconds = isBack ? bothOnPath(facts) : onPath;
  return {
    code: 'gathered-results',
    title: `The client fetched ${bytesText(nbytes)} of results that the workers used again`,
    seconds,
    confidence: 'medium',
    evidence: {
      text: isBack
        ? `The critical path waited ${secondsText(seconds)} while the client fetched results and sent ${bytesText(sent)} back to the workers.`
        : `The critical path waited ${secondsText(seconds)} until the client had received and unpacked results. ${again.length > 0 ? `Later tasks used ${countText(again.length, 'result')}` : `The client then sent ${bytesText(sent)} to the workers`}.`,
      numbers: { nbytes, transfers: rows.length, usedAgain: again.length, sentBackBytes: sent },
      tasks: again.length > 0 ? again.slice(0, 5) : keysOf(facts, rows),
      question: 'transfers-by-pair',
    },
    advice:
      'Keep intermediate results on the workers: persist them, pass futures to the next step, and fetch only the last result.',
  };
};

/** Returns whether the client sent about as much to the workers as it had fetched before, so that both are the same data. */
export function sendsBack(facts: Facts): boolean {
  const { rows, nbytes } = clientTransfers(facts, 'gather');
  const sent = bytesSentBack(facts, rows);
  return nbytes >= MIN_BYTES && sent >= SENT_BACK * nbytes && nbytes >= SENT_BACK * sent;
}

function keysOf({ trace: { transfers, keys } }: Facts, rows: readonly number[]): string[] {
  return rows
    .filter((row) => transfers.keyOffsets[row + 1]! > transfers.keyOffsets[row]!)
    .slice(0, 5)
    .map((row) => keys.get(transfers.keys[transfers.keyOffsets[row]!]!));
}

/** Returns the bytes that the client sent after the first of these results had arrived. */
function bytesSentBack(facts: Facts, rows: readonly number[]): number {
  const { stop, start, nbytes } = facts.trace.transfers;
  const first = rows.reduce((earliest, row) => Math.min(earliest, stop[row]!), Number.POSITIVE_INFINITY);
  const sent = clientTransfers(facts, 'scatter').rows.filter((row) => start[row]! >= first);
  return sent.reduce((sum, row) => sum + nbytes[row]!, 0);
}

/** Returns the keys of fetched results that tasks needed which were submitted after the fetch. */
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
