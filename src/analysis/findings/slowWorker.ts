import { getOrMake, pushTo } from '../../base/lookUps.js';
import { countText, secondsText } from '../../base/words.js';
import { workerName } from '../../trace/names.js';
import { coreUseOf } from '../coreUse.js';
import { evenly, median, quantile } from '../statistics.js';
import type { Facts, Rule } from './finding.js';

/** Minimum number of tasks of a prefix on a slow worker, which runs fewer tasks, and on all others together. */
const MIN_OWN = 3;
const MIN_OTHERS = 5;
/** Smallest ratio of the medians. */
const TIMES = 2;
/**
 * Smallest ratio of the slow worker's lower quartile to the duration that one in twenty tasks of the others exceeds. If more
 * of these are long, the tasks differ, not the workers.
 */
const APART = 1.3;
/** Number of workers per prefix that are compared with the others. */
const COMPARED = 3;

/**
 * Tasks of the same prefix take at least twice as long on one worker as on the others, apart from waits for a core. The
 * cost is the time that these tasks would save with the median duration of the others, divided among the threads.
 */
export const slowWorker: Rule = (facts) => {
  const [worst] = slowTasks(facts).sort((a, b) => b.lost - a.lost);
  if (worst === undefined) return undefined;
  const { prefix, worker, rows, own, others, elsewhere } = worst;
  const name = workerName(facts.trace, worker);
  const times = own / others;
  return {
    code: 'slow-worker',
    title: `Tasks of '${prefix}' take ${times.toFixed(1)} times as long on worker '${name}' as on the others`,
    seconds: facts.secondsOfRun(worst.lost),
    confidence: 'medium',
    evidence: {
      text: `The median of ${countText(rows.length, 'task')} on '${name}' is ${secondsText(own)}, that of ${countText(elsewhere, 'task')} on other workers ${secondsText(others)}, without waits for a core.`,
      numbers: {
        medianSeconds: own,
        otherMedianSeconds: others,
        lostSeconds: worst.lost,
        tasks: rows.length,
      },
      tasks: facts.keys(rows),
      question: 'worker-balance',
    },
    advice: `If these tasks had no larger inputs, look at the machine and the process of '${name}': a slower or throttled processor, swapping, or a limit of CPU time. Without this worker, the others would share its tasks.`,
  };
};

interface SlowTasks {
  readonly prefix: string;
  readonly worker: number;
  readonly rows: readonly number[];
  /** Median seconds on this worker, and on the others. */
  readonly own: number;
  readonly others: number;
  /** Number of tasks on the others. */
  readonly elsewhere: number;
  /** Seconds above the median of the others, of all these tasks. */
  readonly lost: number;
}

/** Returns the slow workers of each prefix. Cost: a walk, and a median per prefix and worker. */
function slowTasks(facts: Facts): SlowTasks[] {
  const { trace, lanes } = facts;
  const groups = new Map<number, Map<number, number[]>>();
  for (const row of lanes.spans.rows) {
    const workers = getOrMake(groups, trace.tasks.prefix[row]!, () => new Map<number, number[]>());
    pushTo(workers, trace.tasks.worker[row]!, row);
  }
  return [...groups].flatMap(([prefix, workers]) => slowWorkers(facts, prefix, workers));
}

/** Compares the workers with the longest medians with the others. */
function slowWorkers(facts: Facts, id: number, workers: ReadonlyMap<number, readonly number[]>): SlowTasks[] {
  const { aloneSeconds } = coreUseOf(facts.trace);
  const secondsOf = (rows: readonly number[]) =>
    Float64Array.from(evenly(Int32Array.from(rows)), aloneSeconds);
  const all = Array.from(workers, ([worker, rows]) => {
    const here = secondsOf(rows);
    return { worker, rows, here, own: median(here) };
  });
  const longest = all
    .filter(({ worker, rows }) => worker >= 0 && rows.length >= MIN_OWN)
    .sort((a, b) => b.own - a.own)
    .slice(0, COMPARED);
  return longest.flatMap(({ worker, rows, here, own }) => {
    const rest = all.flatMap((other) => (other.worker === worker ? [] : other.rows));
    if (rest.length < MIN_OTHERS) return [];
    const there = secondsOf(rest);
    const others = median(there);
    if (!(own >= TIMES * others) || quantile(here, 0.25) < APART * quantile(there, 0.95)) return [];
    const lost = rows.reduce((sum, row) => sum + Math.max(0, aloneSeconds(row) - others), 0);
    return [{ prefix: facts.prefixName(id), worker, rows, own, others, elsewhere: rest.length, lost }];
  });
}
