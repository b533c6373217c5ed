import { countText, secondsText } from '../../base/words.js';
import { workerName } from '../../trace/trace.js';
import { slowTasks } from '../slowWorkers.js';
import type { Rule } from './finding.js';

/**
 * Tasks of the same prefix take at least twice as long on one worker as on the others, apart from waits for a core. The
 * cost is the time that these tasks would save with the median duration of the others, divided among the threads.
 */
export const slowWorker: Rule = (facts) => {
  const [worst] = slowTasks(facts.trace);
  if (worst === undefined) return undefined;
  const { prefix, worker, rows, own, others, elsewhere, ranFewer } = worst;
  const name = workerName(facts.trace, worker);
  const times = own / others;
  return {
    code: 'slow-worker',
    title: `Tasks of '${facts.prefixName(prefix)}' take ${times.toFixed(1)} times as long on worker '${name}' as on the others`,
    seconds: facts.secondsOfRun(worst.lost),
    confidence: ranFewer ? 'medium' : 'low',
    text: `The median of ${countText(rows.length, 'task')} on '${name}' is ${secondsText(own)}, that of ${countText(elsewhere, 'task')} on other workers ${secondsText(others)}, without waits for a core.`,
    numbers: {
      medianSeconds: own,
      otherMedianSeconds: others,
      lostSeconds: worst.lost,
      tasks: rows.length,
    },
    tasks: facts.keys(rows),
    question: 'worker-balance',
    advice: `${
      ranFewer
        ? 'If these tasks had no larger inputs,'
        : `'${name}' ran as many of these tasks as the others. If they have more to do, divide the work evenly. If not,`
    } look at the machine and the process of '${name}': a slower or throttled processor, swapping, or a limit of CPU time.${ranFewer ? ' Without this worker, the others would share its tasks.' : ''}`,
  };
};
