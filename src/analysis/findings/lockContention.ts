import { largestOf } from '../../base/lookUps.js';
import { countText, percentText, secondsText } from '../../base/words.js';
import { contendedLock } from '../leaseWaits.js';
import { daskLocks } from './daskLocks.js';
import type { Facts, Rule } from './finding.js';

/**
 * Tasks wait for a lock or semaphore that other tasks hold. The cost is the time in which tasks waited, less the time that they
 * would need without the lock on all threads, as far as the critical path waited for tasks of these prefixes.
 */
export const lockContention: Rule = (facts) => {
  const worst = contendedLock(facts.trace);
  if (worst === undefined) return facts.isDask ? daskLocks(facts) : undefined;
  const { object, contended, held, byPrefix } = worst;
  const [prefix] = largestOf(byPrefix) ?? [''];
  const waited = [...byPrefix.values()].reduce((sum, seconds) => sum + seconds, 0);
  // The tasks that hold leases, and with those that wait, on average.
  const holders = Math.max(1, held / contended);
  // More holders than threads await promises, and so would the others.
  const most = holders < facts.workers ? facts.workers : Number.POSITIVE_INFINITY;
  const together = Math.min(most, holders + waited / contended);
  const tasks = facts.rowsOf(byPrefix);
  return {
    code: 'lock-contention',
    title: `Tasks of '${prefix}' wait for ${object}: ${percentText(Math.min(1, contended / facts.makespan))} of the time, others hold it`,
    seconds: Math.min(contended * (1 - holders / together), waitingOnPath(facts, byPrefix)),
    confidence: 'high',
    text: `${countText(tasks.length, 'task')} waited ${secondsText(waited)} in total, and at least one of them for ${secondsText(contended)}. More workers do not change this.`,
    numbers: { contendedSeconds: contended, waitedSeconds: waited, leases: holders, workers: facts.workers },
    tasks: facts.keys(tasks),
    question: 'critical-path',
    advice: `Hold ${object} only for the work that needs it: compute, read and wait before or after. ${
      object.startsWith('Semaphore ')
        ? 'Or raise its max, if what it protects allows more tasks at a time.'
        : 'Or use one object for each thing that is protected, e.g. for each file.'
    }`,
  };
};

/** Returns the seconds of the critical path in which tasks of these prefixes awaited promises, or others waited for them. */
function waitingOnPath({ path }: Facts, prefixes: ReadonlyMap<string, number>): number {
  return path.byPrefix
    .filter(({ prefix }) => prefixes.has(prefix))
    .flatMap(({ parts }) => parts)
    .filter(({ kind }) => kind === 'awaiting' || kind === 'waiting for a worker')
    .reduce((sum, { seconds }) => sum + seconds, 0);
}
