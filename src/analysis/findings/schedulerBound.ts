import { percentText, secondsText } from '../../base/words.js';
import type { Facts, Finding, Rule } from './finding.js';
import { coreShare } from './noncpu.js';
import { returnedResults } from './returnedResults.js';
import { schedulerWaits } from './schedulerThread.js';
import { tasksTooSmall, unmeasuredObjects } from './tasksTooSmall.js';

const MIN_SHARE = 0.1;
/** Share of all waits above which one wait is an exception, e.g. the loading of a module, and does not count. */
const STALL = 0.2;
/** Seconds between the end of a task and its report from which a local scheduler is busy with results, not with tasks. */
const LATE_REPORT = 0.02;

/**
 * Tasks of the critical path were ready and a worker was idle, but the scheduler had not sent them yet. The cost is
 * these waits without the start of the workers, without the time in which the program computed on the scheduler's
 * thread, and without the waits for a core. The scheduler's thread waits for a core as long as the threads of tasks do.
 */
export const schedulerBound: Rule = (facts) => {
  const returned = returnedResults(facts);
  if (returned !== undefined) return returned;
  const share = coreShare(facts.trace);
  const waits = schedulerWaits(facts).waits.map(({ seconds: all, starved }) => share * (all - starved));
  const all = waits.reduce((sum, wait) => sum + wait, 0);
  const copied = facts.conditions.report < LATE_REPORT ? undefined : unmeasuredObjects(facts);
  if (copied !== undefined) return copies(facts, all, copied);
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

/** The thread of the program, which is that of a local scheduler, copies results before it sends the next tasks. */
function copies(facts: Facts, seconds: number, copied: string): Finding | undefined {
  if (seconds < MIN_SHARE * facts.makespan || tasksTooSmall(facts)?.code === 'serialization-bound')
    return undefined;
  const { report } = facts.conditions;
  return {
    code: 'serialization-bound',
    title: `Idle workers waited ${secondsText(seconds)} of the critical path for the program's thread, probably while it copied results`,
    seconds,
    confidence: 'medium',
    evidence: {
      text: `The program's thread receives a result ${secondsText(report)} after its task has ended. ${copied}`,
      numbers: { reportSeconds: report, tasks: facts.tasks, workers: facts.workers },
      tasks: facts.pathTasks('waiting for the scheduler'),
      question: 'queueing',
    },
    advice:
      'Return less data, e.g. reduce results in tasks, or return typed arrays, which threads share. A cluster, await connect(), keeps results on its workers and measures what they cost.',
  };
}
