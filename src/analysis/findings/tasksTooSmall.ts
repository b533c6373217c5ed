import { countText, percentText, secondsText } from '../../base/words.js';
import { keptShare } from '../keptShare.js';
import { medianOverhead } from '../simulation/conditions.js';
import type { Facts, Rule } from './finding.js';
import { schedulerWaits } from './schedulerThread.js';

const MIN_TASKS = 100;
/** What passes between tasks, in durations of a task, from where tasks are too small. */
const TOO_SMALL = 0.2;
/** Seconds of a task, up to which waits for the scheduler are a matter of size: more than it takes to schedule a task. */
const SMALL = 5e-3;

/**
 * Tasks so short that what passes between two of them is at least a fifth of what they take. Costs that time, divided by
 * the threads. It passes between neighbours on a thread, or between batches, while the scheduler deals with thousands.
 */
export const tasksTooSmall: Rule = (facts) => {
  const { tasks, work, workers, trace } = facts;
  const mean = work / tasks;
  // Stalls that only some tasks meet are no fault of their size.
  // What results cost to pack grows with them: larger tasks would not help.
  const between = Math.max(0, medianOverhead(trace) - packingSeconds(facts) / tasks);
  const overhead = mean <= SMALL ? Math.max(between, (schedulingSeconds(facts) * workers) / tasks) : between;
  if (tasks < MIN_TASKS || overhead < TOO_SMALL * mean) return undefined;
  const seconds = Math.min((overhead * tasks) / workers, facts.makespan - work / workers);
  let most = { prefix: '', count: 0 };
  for (const { prefix, count } of trace.totals.prefixes.values())
    if (count > most.count) most = { prefix, count };
  const together = Math.ceil((20 * overhead) / Math.max(mean, overhead / 10));
  return {
    code: 'tasks-too-small',
    title: `${countText(tasks, 'task')} of ${secondsText(mean)} are too small: ${secondsText(overhead)} pass between two of them`,
    seconds,
    confidence: 'high',
    evidence: {
      text: `${percentText(overhead / (overhead + mean))} of the threads' time passes between tasks; most are '${most.prefix}' (${most.count.toLocaleString('en')}).`,
      numbers: { tasks, meanSeconds: mean, overheadSeconds: overhead, workers },
      tasks: facts.keys(facts.lanes.spans.rows.subarray(0, 5)),
      question: 'time-by-prefix',
    },
    advice: `Give each task more to do: about ${together} of them in one, e.g. larger blocks, so that the time between tasks is below 5 %.`,
  };
};

/** Seconds of the critical path in which the scheduler dealt with tasks. */
function schedulingSeconds(facts: Facts): number {
  return schedulerWaits(facts).waits.reduce((sum, { seconds, starved }) => sum + seconds - starved, 0);
}

/** Seconds in which threads packed and unpacked results between tasks. */
function packingSeconds({ trace }: Facts): number {
  const packing = trace.totals.actions.filter(
    ({ action }) => action === 'serialize' || action === 'deserialize',
  );
  return keptShare(trace) * packing.reduce((sum, { seconds }) => sum + seconds, 0);
}
