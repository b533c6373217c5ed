import { bytesText, percentText, secondsText } from '../../base/words.js';
import { receivingSpans } from '../programTransfers.js';
import { overlapSeconds } from '../spans.js';
import type { Facts, Rule } from './finding.js';

/**
 * Tasks on the critical path waited for the transfer of their inputs between workers. Costs this time. Other rules cover the
 * data of the program.
 */
export const transferBound: Rule = (facts) => {
  const seconds = betweenWorkers(facts);
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
    text: `Transfers take ${percentText(seconds / facts.makespan)} of the critical path. Workers exchanged ${bytesText(nbytes)}${speed}.`,
    numbers: { nbytes, transferSeconds: spent, pairs: between.length },
    tasks: facts.pathTasks('transfer'),
    question: 'transfers-by-pair',
    advice:
      'Reduce results before their transfer, run tasks that share data on one worker, or use threads, which share buffers.',
  };
};

function betweenWorkers(facts: Facts): number {
  const { trace } = facts;
  let seconds = 0;
  for (const part of facts.parts('transfer')) {
    const received = receivingSpans(trace, trace.tasks.worker[part.row]!, part.start, part.stop);
    seconds += part.stop - part.start - overlapSeconds([part], received);
  }
  return seconds;
}
