import { addTo, largestOf } from '../../base/lookUps.js';
import { countText, percentText, repeatedWords, secondsText } from '../../base/words.js';
import { repeatedRuns } from '../submissionTimes.js';
import { errorOf } from '../taskErrors.js';
import type { Facts, Rule } from './finding.js';

/**
 * Runs of tasks failed and were repeated. The cost is the part of the critical path that computes them or waits until they
 * are repeated. If the path waits for other tasks, the time counts by the share of the running tasks that failed.
 */
export const failedAttempts: Rule = (facts) => {
  const { trace } = facts;
  const { prefix, duration } = trace.tasks;
  const repeated = repeatedRuns(trace);
  const failed = [...new Set(repeated.filter((row) => row >= 0))];
  const last = failed.at(-1);
  if (last === undefined) return undefined;
  const sums = new Map<number, number>();
  for (const row of failed) addTo(sums, prefix[row]!, duration[row]!);
  const [most] = largestOf(sums) ?? [-1];
  const computed = failed.reduce((sum, row) => sum + duration[row]!, 0);
  const seconds = secondsOfRuns(facts, new Set(failed), repeated);
  const withWaits =
    seconds > computed
      ? ` With the waits until they were repeated, they took ${secondsText(seconds)} of the critical path.`
      : '';
  const name = facts.prefixName(most);
  const error = errorOf(trace, failed.findLast((row) => prefix[row] === most) ?? last);
  const whose = sums.size === 1 ? `of '${name}'` : `of ${sums.size} prefixes, mostly '${name}',`;
  return {
    code: 'failed-attempts',
    title: `${countText(failed.length, 'attempt')} ${whose} ${repeatedWords(failed.length)}${error === '' ? '' : `: ${error}`}`,
    seconds,
    confidence: 'high',
    text: `The failed attempts took ${secondsText(computed)}, ${percentText(computed / facts.work)} of the time of tasks.${withWaits} Attempts of a task run one after another, so more workers do not shorten them.`,
    numbers: { attempts: failed.length, failedSeconds: computed, workSeconds: facts.work },
    tasks: facts.keys([...failed].sort((a, b) => duration[b]! - duration[a]!)),
    question: 'time-by-prefix',
    advice: `Remove the cause of the error, or let '${name}' detect it earlier. If only one step of the task fails, repeat this step in the task, or make it a task of its own.`,
  };
};

/**
 * Returns the seconds of the critical path that compute these runs, or wait until a failed run is repeated (`repeated`). If the path
 * waits otherwise, the time counts by the share of the running tasks that are such runs.
 */
export function secondsOfRuns(facts: Facts, runs: ReadonlySet<number>, repeated?: Int32Array): number {
  const { kind, row, start, stop, length } = facts.path.columns;
  const shared = [facts.kindNumber('waiting for a worker'), facts.kindNumber('waiting for the scheduler')];
  const until = secondsUntil(facts, runs);
  let seconds = 0;
  for (let part = 0; part < length; part++) {
    const task = row[part]!;
    const isWait = shared.includes(kind[part]!);
    // A run that repeats another one has all its inputs, so it waits only because of the failure.
    if (task >= 0 && (isWait ? (repeated?.[task] ?? -1) >= 0 : runs.has(task)))
      seconds += stop[part]! - start[part]!;
    else if (isWait) seconds += until(stop[part]!) - until(start[part]!);
  }
  return seconds;
}

/** Returns a function from a time to the seconds until then in which these runs ran, divided by the number of running tasks. */
function secondsUntil(facts: Facts, runs: ReadonlySet<number>): (time: number) => number {
  const { started, stopped } = facts.trace.tasks;
  const bins = facts.bins();
  for (const row of runs) bins.add(started[row]!, stopped[row]!);
  return bins.integral(bins.means().map((running, bin) => running / Math.max(1, facts.running[bin]!)));
}
