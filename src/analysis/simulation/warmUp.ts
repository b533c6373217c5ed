// Models first calls: each isolate compiles a function at its first call, and V8 optimises it during the following
// calls. More workers make more first calls. Measured with five programs: the first call takes 3 to 40 ms longer, each
// of the next three 2 to 10 ms, and calls after the 32nd take no longer. In total, a function of 0.4 ms takes 50 to 100
// ms longer.
import { countsOf, getOrMake } from '../../base/lookUps.js';
import type { Trace } from '../../trace/trace.js';
import { lanesOf } from '../lanes.js';
import { median } from '../statistics.js';

/** Number of calls of a function on a worker that may take longer. */
export const FIRST_CALLS = 32;
/** Ranges of calls, with the largest additional seconds per call. A larger difference is due to a larger task. */
const STEPS = [
  { from: 0, to: 1, most: 0.1 },
  { from: 1, to: 4, most: 0.03 },
  { from: 4, to: 16, most: 0.01 },
  { from: 16, to: FIRST_CALLS, most: 0.003 },
] as const;
/** Smallest ratio of first to later calls. */
const LONGER = 1.5;
/** Minimum number of calls on a worker from which the duration of later calls is estimated. */
const MIN_CALLS = 16;
/** Largest number of prefixes, because each takes a byte per simulated worker. */
const MAX_KINDS = 16;

export interface WarmUp {
  /** Kind by row of tasks; -1 if first calls take no longer. */
  readonly kindOf: Int32Array;
  /** Additional seconds of a call, `FIRST_CALLS` numbers per kind. */
  readonly extra: Float64Array;
}

/** Calls of one prefix, rows of tasks. */
interface Calls {
  /** Start of the first call. */
  since: number;
  /** First calls by step, on workers with at least MIN_CALLS calls. */
  readonly steps: number[][];
  readonly later: number[];
  /** First calls by step, on all workers. */
  readonly all: number[][];
}

/** The additional time of first calls of one prefix. */
interface Kind {
  readonly prefix: number;
  readonly calls: Calls;
  /** Seconds of a later call. */
  readonly steady: number;
  /** Additional seconds of a call by step. */
  readonly longer: readonly number[];
}

/**
 * Estimates the additional seconds of first calls, and subtracts them from `seconds` (by row). Functions that were
 * called before `from`, seconds since the epoch, have no first calls.
 */
export function takeWarmUp(trace: Trace, seconds: Float64Array, from = Number.NEGATIVE_INFINITY): WarmUp {
  const kinds = [...callsOf(trace)]
    .filter(([, { since }]) => since >= from)
    .map(([prefix, calls]) => kindOfCalls(prefix, calls, seconds))
    .map((kind) => ({ ...kind, lost: lostSeconds(kind) }))
    .filter(({ lost }) => lost > 0)
    .sort((a, b) => b.lost - a.lost)
    .slice(0, MAX_KINDS);
  const numbers = new Map(kinds.map(({ prefix }, number) => [prefix, number]));
  return {
    kindOf: trace.tasks.prefix.map((prefix) => numbers.get(prefix) ?? -1),
    extra: Float64Array.from(kinds.flatMap((kind) => shorten(kind, seconds))),
  };
}

function callsOf(trace: Trace): ReadonlyMap<number, Calls> {
  const { prefix, started } = trace.tasks;
  const { count, spans, offsets } = lanesOf(trace);
  const calls = new Map<number, Calls>();
  for (let lane = 0; lane < count; lane++) {
    const rows = spans.rows.subarray(offsets[lane]!, offsets[lane + 1]!);
    const totals = countsOf(rows.map((row) => prefix[row]!));
    const done = new Map<number, number>();
    for (const row of rows) {
      const id = prefix[row]!;
      const call = done.get(id) ?? 0;
      done.set(id, call + 1);
      const known = getOrMake(calls, id, () => ({
        since: Number.POSITIVE_INFINITY,
        steps: STEPS.map(() => []),
        later: [],
        all: STEPS.map(() => []),
      }));
      known.since = Math.min(known.since, started[row]!);
      addCall(known, row, call, totals.get(id)!);
    }
  }
  return calls;
}

/** Adds a call to the samples. If its worker makes few calls (`total`), the second half counts as later calls. */
function addCall({ steps, later, all }: Calls, row: number, call: number, total: number): void {
  const step = STEPS.findIndex(({ to }) => call < to);
  if (step >= 0) all[step]!.push(row);
  if (total < MIN_CALLS) return;
  if (step >= 0 && STEPS[step]!.to <= total / 2) steps[step]!.push(row);
  else if (call >= total / 2 || step < 0) later.push(row);
}

function kindOfCalls(prefix: number, calls: Calls, seconds: Float64Array): Kind {
  const middle = (rows: readonly number[]) => median(Float64Array.from(rows, (row) => seconds[row]!));
  const steady = calls.later.length === 0 ? Number.NaN : middle(calls.later);
  const longer = STEPS.map(({ most }, step) => {
    const rows = calls.steps[step]!;
    const first = rows.length === 0 ? 0 : middle(rows);
    return first >= LONGER * steady ? Math.min(most, first - steady) : 0;
  });
  return { prefix, calls, steady, longer };
}

function lostSeconds({ calls, longer }: Kind): number {
  return longer.reduce((sum, one, step) => sum + one * calls.all[step]!.length, 0);
}

/** Shortens first calls. Returns the mean reduction in seconds by number of the call. */
function shorten({ calls, steady, longer }: Kind, seconds: Float64Array): number[] {
  return STEPS.flatMap(({ from, to }, step) => {
    const rows = calls.all[step]!;
    let taken = 0;
    for (const row of rows) {
      const before = seconds[row]!;
      seconds[row] = Math.max(before - longer[step]!, Math.min(before, steady));
      taken += before - seconds[row]!;
    }
    return new Array<number>(to - from).fill(rows.length === 0 ? 0 : taken / rows.length);
  });
}
