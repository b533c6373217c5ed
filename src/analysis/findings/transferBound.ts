import { sumOf } from '../../base/lookUps.js';
import { bytesText, percentText, secondsText } from '../../base/words.js';
import { receivingSpans } from '../programTransfers.js';
import { overlapSeconds } from '../spans.js';
import { clientTransfers, keysOf, MIN_BYTES } from './clientTransfers.js';
import type { Facts, Found, Rule } from './finding.js';

/**
 * Tasks on the critical path waited for the transfer of their inputs between workers. Costs this time. Other rules cover the
 * data of the program.
 */
export const transferBound: Rule = (facts) => {
  const passed = throughProgram(facts);
  if (passed !== undefined) return passed;
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

/**
 * Workers of a local scheduler exchange results through the program's thread, which sends no tasks meanwhile. Costs the part of
 * the critical path with nothing but these copies.
 */
function throughProgram(facts: Facts): Found | undefined {
  const { rows, nbytes, onPath } = clientTransfers(facts, 'pass');
  if (nbytes < MIN_BYTES) return undefined;
  return {
    code: 'transfer-bound',
    title: `Tasks waited ${secondsText(onPath)} while results of other workers passed through the program's thread`,
    seconds: onPath,
    confidence: 'high',
    text: `This thread received results that tasks of other workers use, and sent ${bytesText(nbytes)} to them. Meanwhile it handled no tasks.`,
    numbers: { nbytes, transfers: rows.length },
    tasks: keysOf(facts, rows),
    question: 'transfers-by-type',
    advice:
      'Use each large result in the task that makes it, or return less. Worker threads share typed arrays, and the workers of a cluster, await connect(), send results to each other.',
  };
}

function betweenWorkers(facts: Facts): number {
  const { trace } = facts;
  return sumOf(facts.parts('transfer'), (part) => {
    const received = receivingSpans(trace, trace.tasks.worker[part.row]!, part.start, part.stop);
    return part.stop - part.start - overlapSeconds([part], received);
  });
}
