import { bytesText, countText, secondsText } from '../../base/words.js';
import { recordsTransfers } from '../recordsTransfers.js';
import { clientTransfers } from './clientTransfers.js';
import type { Rule } from './finding.js';
import { sendsBack } from './gatheredResults.js';

const MIN_BYTES = 1e6;

/**
 * The run waited while the client sent large arguments or closures to the workers. The cost is the part of the critical
 * path with nothing but these transfers. Arguments that were results before are reported as gathered results.
 */
export const oversizedArguments: Rule = (facts) => {
  const { rows, nbytes, onPath } = clientTransfers(facts, 'scatter');
  if (nbytes < MIN_BYTES || sendsBack(facts)) return undefined;
  const { transfers, keys } = facts.trace;
  const largest = rows[0] === undefined ? 0 : transfers.nbytes[rows[0]]!;
  const names = rows.slice(0, 5).flatMap((row) => {
    const key = transfers.keys[transfers.keyOffsets[row]!];
    return transfers.keyOffsets[row] === transfers.keyOffsets[row + 1] || key === undefined
      ? []
      : [keys.get(key)];
  });
  const isLocal = !recordsTransfers(facts.trace);
  return {
    code: 'oversized-arguments',
    title: `The run waited while the ${isLocal ? "program's thread" : 'client'} sent ${bytesText(nbytes)} of arguments`,
    seconds: onPath,
    confidence: 'medium',
    evidence: {
      text: `The critical path waited ${secondsText(onPath)} for ${countText(rows.length, 'transfer')} from the ${isLocal ? 'program' : 'client'}, the largest with ${bytesText(largest)}.`,
      numbers: { nbytes, transfers: rows.length, largestBytes: largest },
      tasks: names,
      question: 'transfers-by-type',
    },
    advice: isLocal
      ? 'Load data inside the tasks (pass a path instead of the content), or pass typed arrays on SharedArrayBuffers, which threads do not copy. A cluster, await connect(), copies a scattered value once for each worker.'
      : 'Load data inside the tasks (pass a path instead of the content), or scatter a large value once and pass its future.',
  };
};
