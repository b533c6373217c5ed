import { countText, secondsText } from '../../base/words.js';
import { type SlowFirstCalls, slowFirstCalls } from '../firstCalls.js';
import type { Facts, Rule } from './finding.js';

/**
 * The first calls of functions take far longer than all later ones on nearly each worker. The cost is the time that these
 * calls would save with the median duration of the later ones, divided among the threads.
 */
export const slowFirst: Rule = (facts) => {
  const all = [...slowFirstCalls(facts.trace).values()].sort((a, b) => b.lost - a.lost);
  const [worst, ...others] = all;
  if (worst === undefined) return undefined;
  const { rows, workers, allWorkers, first, later, laterCalls } = worst;
  const name = facts.prefixName(worst.prefix);
  const lost = all.reduce((sum, one) => sum + one.lost, 0);
  return {
    code: 'slow-first-calls',
    title: `The first call of '${name}' on each of ${workers} workers takes ${secondsText(first)}, later calls ${secondsText(later)}`,
    seconds: facts.secondsOfRun(lost),
    confidence: 'medium',
    text: `The median of the first calls on ${workers === allWorkers ? `all ${workers}` : `${workers} of ${allWorkers}`} workers is ${secondsText(first)}, that of ${countText(laterCalls, 'later call')} ${secondsText(later)}, without waits for a core. Together, these first calls take ${secondsText(worst.lost)} longer.${othersText(facts, others)}`,
    numbers: {
      firstMedianSeconds: first,
      laterMedianSeconds: later,
      lostSeconds: lost,
      workers,
      laterCalls,
    },
    tasks: facts.keys(rows),
    question: 'time-by-prefix',
    advice: `The first call seems to load modules, or to build something that later calls find ready. Load or build less, or build it in one task and pass its result to the others. ${preparation(facts)}`,
  };
};

function othersText(facts: Facts, others: readonly SlowFirstCalls[]): string {
  const [most] = others;
  if (most === undefined) return '';
  const lost = others.reduce((sum, one) => sum + one.lost, 0);
  const which = others.length === 1 ? '' : `${countText(others.length, 'other function')}, mostly `;
  return ` Those of ${which}'${facts.prefixName(most.prefix)}' take ${secondsText(lost)} longer.`;
}

/** Returns how to prepare workers before their tasks. */
function preparation({ isDask }: Facts): string {
  return isDask
    ? 'Or prepare the workers before their first task: register a WorkerPlugin whose `setup` does it, or start the workers with `--preload`.'
    : 'Or prepare the workers of a cluster while the program does something else: right after `connect()`, `client.registerPlugin()` with a worker plugin whose `setup` does it.';
}
