import { getOrMake } from '../../base/lookUps.js';
import { countText, percentText, secondsText } from '../../base/words.js';
import { CONTENDED, SHARED_CONTEXT, WAIT_FOR } from '../../protocol/metrics.js';
import type { Trace } from '../../trace/trace.js';
import type { Facts, Rule } from './finding.js';

/** The waits of tasks for a lock or semaphore. */
interface LeaseWait {
  /** E.g. `Lock 'x'`. */
  readonly object: string;
  /** Seconds in which at least one task waited. */
  contended: number;
  /** Seconds that all tasks waited, by prefix. */
  readonly byPrefix: Map<string, number>;
}

/**
 * Tasks wait for a lock or semaphore that other tasks hold. The cost is the time in which tasks waited, less the time that they
 * would need without the lock on all threads, as far as the critical path waited for tasks of these prefixes.
 */
export const lockContention: Rule = (facts) => {
  const [worst] = leaseWaits(facts.trace).sort((a, b) => b.contended - a.contended);
  if (worst === undefined) return undefined;
  const { object, contended, byPrefix } = worst;
  const [prefix = ''] = [...byPrefix].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const waited = [...byPrefix.values()].reduce((sum, seconds) => sum + seconds, 0);
  // A holder and the tasks that wait, on average.
  const together = Math.min(facts.workers, 1 + waited / contended);
  const tasks = [...facts.lanes.spans.rows].filter((row) =>
    byPrefix.has(facts.prefixName(facts.trace.tasks.prefix[row]!)),
  );
  return {
    code: 'lock-contention',
    title: `Tasks of '${prefix}' wait for ${object}: ${percentText(Math.min(1, contended / facts.makespan))} of the time, others hold it`,
    seconds: Math.min(contended * (1 - 1 / together), waitingOnPath(facts, byPrefix)),
    confidence: 'high',
    evidence: {
      text: `${countText(tasks.length, 'task')} waited ${secondsText(waited)} in total, and at least one of them for ${secondsText(contended)}. More workers do not change this.`,
      numbers: { contendedSeconds: contended, waitedSeconds: waited, workers: facts.workers },
      tasks: facts.keys(tasks),
      question: 'critical-path',
    },
    advice: `Hold ${object} only for the work that needs it: compute, read and wait before or after. Or use one object for each thing that is protected, e.g. for each file.`,
  };
};

/** Returns the seconds that tasks waited for locks and semaphores, by prefix. */
export function leaseSeconds(trace: Trace): ReadonlyMap<string, number> {
  const seconds = new Map<string, number>();
  for (const { byPrefix } of leaseWaits(trace))
    for (const [prefix, waited] of byPrefix) seconds.set(prefix, (seconds.get(prefix) ?? 0) + waited);
  return seconds;
}

function leaseWaits({ totals }: Trace): LeaseWait[] {
  const waits = new Map<string, LeaseWait>();
  const of = (object: string): LeaseWait =>
    getOrMake(waits, object, () => ({ object, contended: 0, byPrefix: new Map() }));
  for (const { context, prefix, activity, value } of totals.metrics) {
    if (context !== SHARED_CONTEXT) continue;
    if (activity.startsWith(CONTENDED)) of(activity.slice(CONTENDED.length)).contended += value;
    else if (activity.startsWith(WAIT_FOR)) {
      const { byPrefix } = of(activity.slice(WAIT_FOR.length));
      byPrefix.set(prefix, (byPrefix.get(prefix) ?? 0) + value);
    }
  }
  return [...waits.values()].filter(({ byPrefix }) => byPrefix.size > 0);
}

/** Returns the seconds of the critical path in which tasks of these prefixes awaited promises, or others waited for them. */
function waitingOnPath({ path }: Facts, prefixes: ReadonlyMap<string, number>): number {
  return path.byPrefix
    .filter(({ prefix }) => prefixes.has(prefix))
    .flatMap(({ parts }) => parts)
    .filter(({ kind }) => kind === 'awaiting' || kind === 'waiting for a worker')
    .reduce((sum, { seconds }) => sum + seconds, 0);
}
