import { countsOf, largestOf, rangeOf } from '../../base/lookUps.js';
import { countText, secondsText } from '../../base/words.js';
import { TASK_CANCELLED, TASK_ERRED } from '../../protocol/clusterObserver.js';
import type { Trace } from '../../trace/trace.js';
import { cutOffTexts } from '../cutOff.js';
import { recordsTransfers } from '../programTransfers.js';
import { median } from '../statistics.js';
import { knownAt } from '../submissionTimes.js';
import { unfinishedRuns } from '../unfinishedRuns.js';
import type { Facts, Rule } from './finding.js';

/**
 * The program waited for tasks that it cancelled later, e.g. with a time limit, or other tasks waited for the
 * threads that these held. The cost is this time on the critical path.
 */
export const cancelledTasks: Rule = (facts) => {
  const seconds = cancelledSeconds(facts);
  if (seconds === 0) return undefined;
  const { tasks } = facts.trace;
  const runs = unfinishedRuns(facts.trace).filter(({ row }) => tasks.state[row] === TASK_CANCELLED);
  const counts = countsOf(runs.map(({ row }) => tasks.prefix[row]!));
  const [prefix, count] = largestOf(counts) ?? [-1, 0];
  const name = facts.prefixName(prefix);
  const usual = median(Float64Array.from(runs, ({ start, stop }) => stop - start));
  return {
    code: 'cancelled-tasks',
    title: `The run waited ${secondsText(seconds)} for tasks that were cancelled: ${countText(count, 'run')} of '${name}'`,
    seconds,
    confidence: 'high',
    text: `${countText(runs.length, 'run')} had been sent to workers and had not ended when they were cancelled, after ${secondsText(usual)} in the median.`,
    numbers: { cancelledRuns: runs.length, medianSeconds: usual },
    tasks: facts.keys(runs.map(({ row }) => row)),
    question: 'critical-path',
    advice: `Find out what '${name}' computes or waits for${recordsTransfers(facts.trace) ? `, e.g. with '${facts.isDask ? 'client.call_stack()' : 'await client.dump()'}' while it hangs` : ''}. Or submit the next tasks before these are cancelled, or cancel them earlier.`,
  };
};

/** Longest time in seconds from the failure of a task to the cancellation of the others by `compute()`. */
const MAX_REACTION = 1;

/** Returns the seconds of the path that tasks took which were cancelled, and not because the client closed or another task failed. */
function cancelledSeconds(facts: Facts): number {
  const { computation, state, submitted, stopped } = facts.trace.tasks;
  // Nothing waited for tasks that were cut off: no task was submitted or ended after them.
  const last =
    cutOffTexts(facts.trace).length > 0 ? rangeOf(submitted, stopped).stop : Number.POSITIVE_INFINITY;
  const failed = lastFailures(facts.trace);
  let seconds = 0;
  for (const { start, stop, row } of facts.parts('run without result')) {
    if (state[row] !== TASK_CANCELLED || stop > last) continue;
    const after = stop - (failed.get(computation[row]!) ?? Number.POSITIVE_INFINITY);
    if (!(after >= 0 && after <= MAX_REACTION)) seconds += stop - start;
  }
  return seconds;
}

/** Returns the time of the last failure in each computation with one. */
function lastFailures(trace: Trace): ReadonlyMap<number, number> {
  const { computation, state, length } = trace.tasks;
  const times = new Map<number, number>();
  if (trace.totals.states[TASK_ERRED] === 0) return times;
  for (let row = 0; row < length; row++) {
    if (state[row] !== TASK_ERRED) continue;
    const before = times.get(computation[row]!) ?? Number.NEGATIVE_INFINITY;
    times.set(computation[row]!, Math.max(before, knownAt(trace, row)));
  }
  return times;
}
