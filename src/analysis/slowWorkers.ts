// Finds workers on which tasks take far longer than the same tasks on other workers, apart from waits for a core and promises.
import { getOrMake, oncePer, pushTo } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';
import { coreUseOf } from './coreUse.js';
import { lanesOf } from './lanes.js';
import { evenly, median, quantile } from './statistics.js';
import { awaitedSeconds } from './workIntervals.js';

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

export interface SlowTasks {
  /** Id of the trace's strings. */
  readonly prefix: number;
  readonly worker: number;
  readonly rows: readonly number[];
  /** Median seconds on this worker, and on the others. */
  readonly own: number;
  readonly others: number;
  /** Number of tasks on the others. */
  readonly elsewhere: number;
  /** False if this worker ran as many tasks as the others on average, as with a fixed division: then the tasks may differ, not the workers. */
  readonly ranFewer: boolean;
  /** Seconds above the median of the others, of all these tasks. */
  readonly lost: number;
}

/**
 * Returns the slow workers of each prefix, those that lost most seconds first. Computed once per trace; cost: a walk, and a
 * median per prefix and worker.
 */
export const slowTasks = oncePer((trace: Trace): readonly SlowTasks[] => {
  const groups = new Map<number, Map<number, number[]>>();
  for (const row of lanesOf(trace).spans.rows) {
    const workers = getOrMake(groups, trace.tasks.prefix[row]!, () => new Map<number, number[]>());
    pushTo(workers, trace.tasks.worker[row]!, row);
  }
  return [...groups]
    .flatMap(([prefix, workers]) => slowWorkers(trace, prefix, workers))
    .sort((a, b) => b.lost - a.lost);
});

/** Compares the workers with the longest medians with the others. */
function slowWorkers(
  trace: Trace,
  prefix: number,
  workers: ReadonlyMap<number, readonly number[]>,
): SlowTasks[] {
  const { aloneSeconds } = coreUseOf(trace);
  const awaited = awaitedSeconds(trace);
  const ownSeconds = (row: number) => aloneSeconds(row) - (awaited.get(row) ?? 0);
  const secondsOf = (rows: readonly number[]) => Float64Array.from(evenly(Int32Array.from(rows)), ownSeconds);
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
    // Tasks that only await promises elsewhere have no time of their own to compare.
    if (!(others > 0 && own >= TIMES * others) || quantile(here, 0.25) < APART * quantile(there, 0.95))
      return [];
    const lost = rows.reduce((sum, row) => sum + Math.max(0, ownSeconds(row) - others), 0);
    const ranFewer = rows.length * (all.length - 1) < rest.length;
    return [{ prefix, worker, rows, own, others, elsewhere: rest.length, ranFewer, lost }];
  });
}
