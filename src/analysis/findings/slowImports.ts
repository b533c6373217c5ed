import { largestOf } from '../../base/lookUps.js';
import { secondsText } from '../../base/words.js';
import { coreUseOf } from '../coreUse.js';
import { recordsTransfers } from '../programTransfers.js';
import type { Facts, Rule } from './finding.js';
import { metricSeconds } from './metricSeconds.js';

/** Seconds for which a worker imports modules, without waits for a core, from which the import is worth a change. */
const MIN_SECONDS = 1;

/**
 * Each worker imports the modules of its tasks before its first task, and that takes long. The cost is the time of one worker on
 * the critical path without waits for a core.
 */
export const slowImports: Rule = (facts) => {
  const { workers, seconds, worst } = importsOf(facts);
  const { isMeasured, lost } = coreUseOf(facts.trace);
  // Where the system measures waits for a core, the seconds are without them.
  const own = isMeasured ? seconds : seconds * (1 - lost);
  if (own < MIN_SECONDS) return undefined;
  return {
    code: 'slow-imports',
    title: `Each worker imports the modules of its tasks for ${secondsText(own)} before its first task`,
    seconds: Math.min(facts.onPath('worker start'), own),
    confidence: 'medium',
    text: `The imports took ${secondsText(seconds)} per worker, mostly for tasks of '${worst}'. The critical path waited ${secondsText(facts.onPath('worker start'))} for the start of workers.`,
    numbers: { importSeconds: seconds, workers },
    tasks: facts.pathTasks('worker start'),
    question: 'critical-path',
    advice: `Compute and await less at the top level of the module of '${worst}', and import in it only what its tasks need.${recordsTransfers(facts.trace) ? ' Or connect() early, and do something else while the workers start.' : ''}`,
  };
};

/** Returns the seconds for which a worker imported modules of tasks, on average, and the prefix with most of them. */
function importsOf(facts: Facts): { workers: number; seconds: number; worst: string } {
  const { total, byPrefix } = metricSeconds(facts.trace, 'import');
  const workers = new Set(facts.lanes.worker).size;
  const [worst] = largestOf(byPrefix) ?? [''];
  return { workers, seconds: workers > 0 ? total / workers : 0, worst };
}
