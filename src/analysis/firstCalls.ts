// Finds functions whose first call on each worker takes far longer than all later ones, e.g. because it loads modules or
// builds a model that later calls find ready.

import { oncePer, pushTo } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';
import { keyGraphOf } from './keyGraph.js';
import { lanesOf } from './lanes.js';
import { ownSeconds } from './profilerStarts.js';
import { evenly, median, middleOf } from './statistics.js';

/**
 * Seconds by which the first call of a function on a worker may take longer, because the worker loads and compiles
 * code.
 */
export const COLD_SECONDS = 0.1;
/** Smallest ratio of a slow first call to the median of later calls. */
const TIMES = 1.5;
/** Smallest distance of a slow first call from that median, in deviations. */
const SPREADS = 6;
/** Minimum number of later calls, and of those on at least one worker with a slow first call. */
const MIN_LATER = 5;
const MIN_AFTER = 3;
/** Minimum number of workers with slow first calls. On one worker, its first task may simply be a larger one. */
const MIN_WORKERS = 2;
/** Smallest share of the workers that called the function whose first calls are slow. */
const MIN_SHARE = 0.75;
/** Share of the additional time of first calls from which a later call is long, too. */
const LONG = 0.25;
/** Largest share of long calls among all later ones. */
const MAX_LONG = 0.1;
/** Ratio of inputs from which a first call takes longer because it has more to do. */
const LARGER = 1.5;

export interface SlowFirstCalls {
  /** Id of the prefix in `trace.strings`. */
  readonly prefix: number;
  /** Rows of the slow first calls. On a worker that runs several calls at once, all that began before the first one ended. */
  readonly rows: readonly number[];
  /** Number of workers with slow first calls, and of all that called the function. */
  readonly workers: number;
  readonly allWorkers: number;
  /** Medians of the slowest first call of each worker and of the later calls, seconds, without waits for a core. */
  readonly first: number;
  readonly later: number;
  readonly laterCalls: number;
  /** Seconds of the slow first calls above the median of later ones. */
  readonly lost: number;
}

interface WorkerCalls {
  readonly first: readonly number[];
  readonly later: readonly number[];
  /** The earliest of the later calls; -1 without later calls. */
  readonly next: number;
}

/** Returns the slow first calls by id of the prefix. Cost: a walk, and medians of prefixes with a long first call. */
export const slowFirstCalls = oncePer((trace: Trace): ReadonlyMap<number, SlowFirstCalls> => {
  const found = new Map<number, SlowFirstCalls>();
  for (const [prefix, workers] of candidates(trace)) {
    const calls = Array.from(workers.values(), (rows) => workerCalls(trace, rows));
    const own = slowCalls(trace, prefix, calls);
    if (own !== undefined) found.set(prefix, own);
  }
  return found;
});

export const slowFirstRows = oncePer(
  (trace: Trace): ReadonlySet<number> =>
    new Set([...slowFirstCalls(trace).values()].flatMap(({ rows }) => rows)),
);

/**
 * Returns, by row, 1 for the first task of a prefix on a thread, 2 for tasks of the prefix that began before the first one
 * ended, because they may await what it loads, otherwise 0.
 */
export function firstRuns(trace: Trace): Uint8Array {
  const { spans, offsets, count } = lanesOf(trace);
  const { prefix, started, stopped } = trace.tasks;
  const isFirst = new Uint8Array(trace.tasks.length);
  const laneOfFirst = new Int32Array(trace.strings.length).fill(-1);
  const firstStop = new Float64Array(trace.strings.length);
  for (let lane = 0; lane < count; lane++) {
    for (let at = offsets[lane]!; at < offsets[lane + 1]!; at++) {
      const row = spans.rows[at]!;
      const id = prefix[row]!;
      if (id < 0) continue;
      if (laneOfFirst[id] !== lane) {
        laneOfFirst[id] = lane;
        firstStop[id] = stopped[row]!;
        isFirst[row] = 1;
      } else if (started[row]! < firstStop[id]!) isFirst[row] = 2;
    }
  }
  return isFirst;
}

/** Returns the rows of each prefix with a long first call, by worker. */
function candidates(trace: Trace): Map<number, Map<number, number[]>> {
  const { prefix, worker, duration } = trace.tasks;
  const groups = new Map<number, Map<number, number[]>>();
  for (const [row, isFirst] of firstRuns(trace).entries())
    if (isFirst === 1 && duration[row]! > COLD_SECONDS) groups.set(prefix[row]!, new Map());
  if (groups.size === 0) return groups;
  for (const row of lanesOf(trace).spans.rows) {
    const workers = worker[row]! < 0 ? undefined : groups.get(prefix[row]!);
    if (workers !== undefined) pushTo(workers, worker[row]!, row);
  }
  return groups;
}

/**
 * Divides the calls on a worker. A call that began before the first one ended also waited for what the first one prepared,
 * e.g. on another thread of the worker.
 */
function workerCalls({ tasks: { started, stopped } }: Trace, rows: readonly number[]): WorkerCalls {
  const earliest = (some: readonly number[]) =>
    some.reduce((best, row) => (best < 0 || started[row]! < started[best]! ? row : best), -1);
  const ready = stopped[earliest(rows)]!;
  const later = rows.filter((row) => started[row]! >= ready);
  return { first: rows.filter((row) => started[row]! < ready), later, next: earliest(later) };
}

function slowCalls(trace: Trace, prefix: number, all: readonly WorkerCalls[]): SlowFirstCalls | undefined {
  const seconds = (row: number) => ownSeconds(trace, row);
  const later = all.flatMap((one) => one.later);
  if (all.length < MIN_WORKERS || later.length < MIN_LATER) return undefined;
  const usual = middleOf(Float64Array.from(evenly(Int32Array.from(later)), seconds));
  const limit = Math.max(TIMES * usual.median, usual.median + COLD_SECONDS + SPREADS * usual.sigma);
  const isLarger = largerInputs(trace, later);
  const isSlow = (row: number) => seconds(row) > limit && !isLarger(row);
  const slow = all.filter((one) => one.first.some(isSlow));
  if (slow.length < Math.max(MIN_WORKERS, MIN_SHARE * all.length)) return undefined;
  const rows = slow.flatMap((one) => one.first);
  const longest = (one: WorkerCalls) =>
    one.first.reduce((most, row) => Math.max(most, isSlow(row) ? seconds(row) : 0), 0);
  const first = median(slow.map(longest));
  const isLong = (row: number) => seconds(row) > usual.median + LONG * (first - usual.median);
  // If the largest tasks start first, the next ones are long, too.
  const next = slow.filter((one) => one.later.length >= MIN_AFTER).map((one) => one.next);
  if (next.length === 0 || next.filter(isLong).length >= next.length / 2) return undefined;
  if (later.filter(isLong).length > MAX_LONG * later.length) return undefined;
  return {
    prefix,
    rows,
    workers: slow.length,
    allWorkers: all.length,
    first,
    later: usual.median,
    laterCalls: later.length,
    lost: rows.reduce((sum, row) => sum + Math.max(0, seconds(row) - usual.median), 0),
  };
}

function largerInputs(trace: Trace, later: readonly number[]): (row: number) => boolean {
  const { inputBytes } = keyGraphOf(trace);
  const bytesOf = (row: number) => inputBytes[trace.tasks.key[row]!]!;
  const usual = median(Float64Array.from(evenly(Int32Array.from(later)), bytesOf));
  return (row) => bytesOf(row) > LARGER * usual;
}
