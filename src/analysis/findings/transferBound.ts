import { bytesText, percentText, secondsText } from '../../base/words.js';
import type { Rule } from './finding.js';

/** Tasks on the critical path waited for the transfer of their inputs. Costs this time. */
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
    title: `Tasks waited ${secondsText(seconds)} for the transfer of inputs between workers`,
    seconds,
    confidence: 'high',
    evidence: {
      text: `Transfers take ${percentText(seconds / facts.makespan)} of the critical path. Workers exchanged ${bytesText(nbytes)}${speed}.`,
      numbers: { nbytes, transferSeconds: spent, pairs: between.length },
      tasks: facts.pathTasks('transfer'),
      question: 'transfers-by-pair',
    },
    advice:
      'Reduce results before their transfer, run tasks that share data on one worker, or use threads, which share buffers.',
  };
};
