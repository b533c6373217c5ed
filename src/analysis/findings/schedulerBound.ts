import { percentText, secondsText } from '../../base/words.js';
import type { Rule } from './finding.js';
import { schedulerWaits } from './schedulerThread.js';

const MIN_SHARE = 0.1;
/** One wait that is more than this share of all is a stall of its own, e.g. a module that is loaded, and no habit. */
const STALL = 0.2;

/**
 * Tasks of the critical path that could run, on a worker with nothing to do, waited to be sent there. Costs those waits,
 * but for the first, in which workers start, and what the program computed on the scheduler's thread meanwhile.
 */
export const schedulerBound: Rule = (facts) => {
  const waits = schedulerWaits(facts).waits.map(({ seconds: all, starved }) => all - starved);
  const all = waits.reduce((sum, wait) => sum + wait, 0);
  const seconds = waits.filter((wait) => wait <= STALL * all).reduce((sum, wait) => sum + wait, 0);
  if (seconds < MIN_SHARE * facts.makespan) return undefined;
  const { latency, taskOverhead } = facts.conditions;
  return {
    code: 'scheduler-bound',
    title: `Workers waited for the scheduler: ${secondsText(seconds)} of the critical path`,
    seconds,
    confidence: 'medium',
    evidence: {
      text: `${percentText(seconds / facts.makespan)} of the critical path; an idle thread starts a task ${secondsText(latency)} after it could run.`,
      numbers: { latencySeconds: latency, taskOverheadSeconds: taskOverhead, tasks: facts.tasks },
      tasks: facts.pathTasks('waiting for the scheduler'),
      question: 'queueing',
    },
    advice: 'Make fewer and larger tasks, join chains of tasks into one, and submit the whole graph at once.',
  };
};
