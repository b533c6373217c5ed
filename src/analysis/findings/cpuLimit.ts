import { countText, percentText, secondsText } from '../../base/words.js';
import type { Trace } from '../../trace/trace.js';
import { CROWDED_SHARE, coreUseOf } from '../coreUse.js';
import { longestWaits } from './cpuOversubscription.js';
import type { Rule } from './finding.js';

export const RAISE_LIMIT =
  'Raise the CPU limit of the container: --cpus of Docker, resources.limits.cpu of Kubernetes, CPUQuota of systemd.';
/** Share of the waits for a core from which the limit is their cause. */
const MAIN = 0.5;
/** Part of a thread that does not count as another one. */
const PART = 0.25;

/**
 * The CPU limit of a container stops all threads of the program until the next period, usually of 0.1 s, when they have used
 * their time. Linux counts these stops. The cost is the time in which they delay tasks, divided by the mean concurrency.
 */
export const cpuLimit: Rule = (facts) => {
  const { cores, limited, lost, demand } = coreUseOf(facts.trace);
  if (!(limited >= CROWDED_SHARE)) return undefined;
  const seconds = limited * facts.work;
  // The demand is measured, so a small part of another thread is not one.
  const enough = Math.max(1, Math.ceil(cores / Math.min(1, demand) - PART));
  return {
    code: 'cpu-limit',
    title: `The CPU limit of the container, ${Number(cores.toFixed(2))} ${cores === 1 ? 'core' : 'cores'}, stops tasks for ${percentText(limited)} of their time`,
    seconds: facts.secondsOfRun(seconds),
    confidence: 'high',
    text: `Threads that were ready to run waited ${secondsText(lost * facts.work)} in total for a core, ${secondsText(seconds)} of it because the program had used its CPU time.`,
    numbers: {
      limitCores: cores,
      limitedSeconds: seconds,
      coreWaitSeconds: lost * facts.work,
      workers: facts.workers,
    },
    tasks: facts.keys(longestWaits(facts)),
    question: 'time-by-prefix',
    advice: `${RAISE_LIMIT}${facts.workers > enough ? ` With this limit, ${countText(enough, 'worker thread')} ${enough === 1 ? 'does' : 'do'} as much as ${facts.workers}.` : ''}`,
  };
};

/** Returns whether a CPU limit caused most waits for a core. */
export function isLimited(trace: Trace): boolean {
  const { limited, lost } = coreUseOf(trace);
  return limited > 0 && limited >= MAIN * lost;
}
