import { addTo, getOrMake, largestOf } from '../../base/lookUps.js';
import { countText, percentText, secondsText } from '../../base/words.js';
import { TASK_MEMORY } from '../../protocol/clusterObserver.js';
import { secondsOfRuns } from './failedAttempts.js';
import type { Facts, Rule } from './finding.js';

/** Share of the work that a prefix must take; the keys of others are not compared. */
const MIN_SHARE = 0.05;
/** Mean seconds of the tasks of a prefix below which the number of tasks is the problem, not that they are repeated. */
const MIN_SECONDS = 1e-3;
/** A key with such a token means the same function with the same arguments. Names that programs choose may mean anything. */
const TOKEN = /[0-9a-f]{16}|[0-9a-f]{4}-[0-9a-f]{12}/;

/**
 * Several computations ran the same tasks, because each needs their results and nothing kept them. The cost is the part of the critical
 * path that computes the later runs, or waits for threads that do.
 */
export const repeatedTasks: Rule = (facts) => {
  const { trace } = facts;
  const { prefix, duration, computation } = trace.tasks;
  const groups = repeatedGroups(facts);
  const again = groups.flatMap(([, ...later]) => later);
  const [first] = again;
  if (first === undefined) return undefined;
  const sums = new Map<number, number>();
  for (const row of again) addTo(sums, prefix[row]!, duration[row]!);
  const [most] = largestOf(sums) ?? [-1];
  const name = facts.prefixName(most);
  const computed = again.reduce((sum, row) => sum + duration[row]!, 0);
  const computations = new Set(groups.flat().map((row) => computation[row]!)).size;
  return {
    code: 'repeated-tasks',
    title: `${countText(computations, 'computation')} ran the same tasks: ${countText(groups.length, 'task')}${sums.size === 1 ? ` of '${name}'` : `, mostly of '${name}',`} ran ${groups.length + again.length} times`,
    seconds: secondsOfRuns(facts, new Set(again)),
    confidence: 'high',
    text: `The later runs took ${secondsText(computed)}, ${percentText(computed / facts.work)} of the time of tasks.`,
    numbers: { tasks: groups.length, repeatedRuns: again.length, repeatedSeconds: computed, computations },
    tasks: facts.keys(again.sort((a, b) => duration[b]! - duration[a]!)),
    question: 'time-by-prefix',
    advice: facts.isDask
      ? `Keep the results of '${name}' on the workers: x = x.persist() before the computations that use it. Or compute all results at once: dask.compute(a, b).`
      : `Compute all that needs '${name}' at once: await compute(a, b). Or keep the results on a cluster: const data = load.persist() is a future, which later tasks take as an argument.`,
  };
};

/** Returns the rows of the runs of each task that several computations ran, the first one first. */
function repeatedGroups({ trace, lanes, work }: Facts): number[][] {
  if (trace.computations.length < 2) return [];
  const { prefix, duration, computation, attempt, state, started, functionName } = trace.tasks;
  const sums = new Map<number, { seconds: number; tasks: number }>();
  for (const row of lanes.spans.rows) {
    const sum = getOrMake(sums, prefix[row]!, () => ({ seconds: 0, tasks: 0 }));
    sum.seconds += duration[row]!;
    sum.tasks++;
  }
  const first = new Map<string, number>();
  const groups = new Map<number, number[]>();
  const ran = (row: number): boolean => state[row] === TASK_MEMORY && attempt[row] === 1;
  for (const row of lanes.spans.rows.filter(ran).sort((a, b) => started[a]! - started[b]!)) {
    const { seconds, tasks } = sums.get(prefix[row]!)!;
    if (seconds < MIN_SHARE * work || seconds < MIN_SECONDS * tasks) continue;
    const key = trace.tasks.keyOf(row);
    // A key that a program chose, e.g. with the UUID of a customer, may stand for several functions.
    const before = getOrMake(first, `${functionName[row]} ${key}`, () => row);
    if (computation[row] !== computation[before] && TOKEN.test(key))
      getOrMake(groups, before, () => [before]).push(row);
  }
  return [...groups.values()];
}
