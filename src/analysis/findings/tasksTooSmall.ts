import { countText, percentText, secondsText } from '../../base/words.js';
import { keptShare } from '../keptShare.js';
import { medianOverhead } from '../simulation/conditions.js';
import type { Facts, Rule } from './finding.js';
import { schedulerWaits } from './schedulerThread.js';
import { unmeasuredCopies } from './unmeasuredCopies.js';

const MIN_TASKS = 100;
/** Ratio of the time between two tasks to the duration of a task, from which tasks are too small. */
const TOO_SMALL = 0.2;
/** Mean duration in seconds up to which waits for the scheduler count as a consequence of the size of tasks. */
const SMALL = 5e-3;

/**
 * The time between two tasks is at least a fifth of their mean duration. The cost is the sum of these times, divided by
 * the number of threads. The time passes between tasks on a thread, or between batches while the scheduler handles many
 * tasks.
 */
export const tasksTooSmall: Rule = (facts) => {
  const { tasks, work, workers, trace } = facts;
  const mean = work / tasks;
  // The median leaves out stalls of single tasks. Packing time grows with the results, so larger tasks would not reduce
  // it.
  const between = Math.max(0, medianOverhead(trace) - packingSeconds(facts) / tasks);
  const overhead = mean <= SMALL ? Math.max(between, (schedulingSeconds(facts) * workers) / tasks) : between;
  if (tasks < MIN_TASKS || overhead < TOO_SMALL * (mean + meanWait(facts))) return undefined;
  const seconds = Math.min((overhead * tasks) / workers, facts.makespan - work / workers);
  const copies = unmeasuredCopies(facts, { mean, overhead, seconds });
  if (copies !== undefined) return copies;
  let most = { prefix: '', count: 0 };
  for (const { prefix, count } of trace.totals.prefixes.values())
    if (count > most.count) most = { prefix, count };
  const together = Math.ceil((20 * overhead) / Math.max(mean, overhead / 10));
  return {
    code: 'tasks-too-small',
    title: `${countText(tasks, 'task')} of ${secondsText(mean)} are too small: ${secondsText(overhead)} pass between two tasks`,
    seconds,
    confidence: 'high',
    evidence: {
      text: `${percentText(overhead / (overhead + mean))} of the threads' time passes between tasks. Most tasks are '${most.prefix}' (${most.count.toLocaleString('en')}).`,
      numbers: { tasks, meanSeconds: mean, overheadSeconds: overhead, workers },
      tasks: facts.keys(facts.lanes.spans.rows.subarray(0, 5)),
      question: 'time-by-prefix',
    },
    advice: `Join about ${together} tasks into one, e.g. by larger blocks, to bring the time between tasks below 5 %.`,
  };
};

/** Returns the mean seconds for which a task waited while others used its thread. Larger tasks would wait as long. */
function meanWait({ trace: { tasks } }: Facts): number {
  return tasks.waited.reduce((sum, seconds) => sum + (seconds || 0), 0) / Math.max(1, tasks.length);
}

/** Returns the seconds of the critical path in which the scheduler handled tasks. */
function schedulingSeconds(facts: Facts): number {
  return schedulerWaits(facts).waits.reduce((sum, { seconds, starved }) => sum + seconds - starved, 0);
}

/** Returns the seconds in which threads packed and unpacked results between tasks. */
function packingSeconds({ trace }: Facts): number {
  const packing = trace.totals.actions.filter(
    ({ action }) => action === 'serialize' || action === 'deserialize',
  );
  return keptShare(trace) * packing.reduce((sum, { seconds }) => sum + seconds, 0);
}
