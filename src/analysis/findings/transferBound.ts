import { bytesText, percentText, secondsText } from '../../base/words.js';
import type { Rule } from './finding.js';

/** Tasks on the critical path waited for inputs to be moved. Costs that time. */
export const transferBound: Rule = (facts) => {
  const seconds = facts.onPath('transfer');
  if (seconds === 0) return undefined;
  const { pairs } = facts.trace.totals;
  const between = pairs.filter(({ from, to }) => from >= 0 && to >= 0);
  const nbytes = between.reduce((sum, pair) => sum + pair.nbytes, 0);
  const spent = between.reduce((sum, pair) => sum + pair.seconds, 0);
  const speed = nbytes > 0 && spent > 0 ? ` at ${bytesText(nbytes / spent)}/s` : '';
  return {
    code: 'transfer-bound',
    title: `Tasks waited ${secondsText(seconds)} for their inputs to be moved between workers`,
    seconds,
    confidence: 'high',
    evidence: {
      text: `${percentText(seconds / facts.makespan)} of the critical path is transfers; ${bytesText(nbytes)} went between workers${speed}.`,
      numbers: { nbytes, transferSeconds: spent, pairs: between.length },
      tasks: facts.pathTasks('transfer'),
      question: 'transfers-by-pair',
    },
    advice:
      'Make results smaller before they are moved, let what belongs together run on one worker, or use threads, which share buffers.',
  };
};
