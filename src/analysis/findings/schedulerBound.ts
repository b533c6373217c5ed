import { percentText, secondsText } from '../../base/words.js';
import type { Rule } from './finding.js';
import { coreShare } from './noncpu.js';
import { schedulerWaits } from './schedulerThread.js';

const MIN_SHARE = 0.1;
/** Share of all waits above which one wait is an exception, e.g. the loading of a module, and does not count. */
const STALL = 0.2;

/**
 * Tasks of the critical path were ready and a worker was idle, but the scheduler had not sent them yet. The cost is
 * these waits without the start of the workers, without the time in which the program computed on the scheduler's
 * thread, and without the waits for a core. The scheduler's thread waits for a core as long as the threads of tasks do.
 */
export const schedulerBound: Rule = (facts) => {
  const share = coreShare(facts.trace);
  const waits = schedulerWaits(facts).waits.map(({ seconds: all, starved }) => share * (all - starved));
  const all = waits.reduce((sum, wait) => sum + wait, 0);
  const seconds = waits.filter((wait) => wait <= STALL * all).reduce((sum, wait) => sum + wait, 0);
  if (seconds < MIN_SHARE * facts.makespan) return undefined;
  const { latency, taskOverhead } = facts.conditions;
  return {
    code: 'scheduler-bound',
    title: `Idle workers waited ${secondsText(seconds)} of the critical path for the scheduler`,
    seconds,
    confidence: 'medium',
    evidence: {
      text: `These waits are ${percentText(seconds / facts.makespan)} of the critical path. An idle thread starts a task ${secondsText(latency)} after the task is ready.`,
      numbers: { latencySeconds: latency, taskOverheadSeconds: taskOverhead, tasks: facts.tasks },
      tasks: facts.pathTasks('waiting for the scheduler'),
      question: 'queueing',
    },
    advice:
      'Make fewer and larger tasks, join each chain of tasks into one task, and submit the whole graph at once.',
  };
};
