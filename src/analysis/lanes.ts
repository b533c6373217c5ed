// Orders tasks by lane, i.e. by thread of a worker, and start. Analyses use lanes to find the tasks of a thread at a
// given time. Tasks on a thread may overlap while they await promises.
import { countedOffsets, groupedRows, sortBy } from '../base/groups.js';
import { firstWhere, oncePer } from '../base/lookUps.js';
import { TASK_ERRED, TASK_MEMORY } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';
import { PairIndex } from './pairIndex.js';

/** Time spans by lane. Lanes are dense numbers, in the order of their first task. */
export interface Lanes {
  readonly count: number;
  /** Row of `trace.workers` by lane; -1 if unknown. */
  readonly worker: Int32Array;
  /** Thread of the worker by lane; -1 if unknown. */
  readonly thread: Int32Array;
  /** Lane by row of tasks; -1 for runs that did not begin or were lost, and for slices inside of others. */
  readonly laneOf: Int32Array;
  /** Row of a slice around each slice that is inside of another, -1 for other rows; without rows if no slice is inside of another. */
  readonly outer: Int32Array;
  /** Time at which each task left its thread to others: when it seceded, or else when it stopped. */
  readonly stop: Float64Array;
  /** Rows of lane `l` in order of start: `spans.rows[offsets[l] .. offsets[l + 1])`. */
  readonly spans: TimeSpans;
  readonly offsets: Int32Array;
}

/**
 * Table rows sorted by group, then by start. `latest` serves to find the rows that overlap with a time.
 */
export interface TimeSpans {
  readonly rows: Int32Array;
  /** Row with the latest stop among the rows of the group up to this position. */
  readonly latest: Int32Array;
}

/**
 * Returns true if a task run ended with a result or an error. Other runs, e.g. on a lost worker, have no valid times.
 */
export function ran(trace: Trace, row: number): boolean {
  const { state, started, stopped } = trace.tasks;
  const way = state[row]!;
  return (way === TASK_MEMORY || way === TASK_ERRED) && stopped[row]! >= started[row]!;
}

/**
 * Calls `visit` with each time span in which a task used its thread, and the share of the span in which it did: 1 in its
 * slot, at most 1 after it has seceded.
 */
export function eachUse(
  { tasks }: Trace,
  row: number,
  visit: (start: number, stop: number, share: number) => void,
): void {
  const { started, stopped, seceded } = tasks;
  if (Number.isNaN(seceded[row]!)) {
    visit(started[row]!, stopped[row]!, 1);
    return;
  }
  const { resumed } = tasks;
  const { between, after } = secededUse(tasks, row);
  visit(started[row]!, seceded[row]!, 1);
  if (between > 0) visit(seceded[row]!, resumed[row]!, between / (resumed[row]! - seceded[row]!));
  if (after > 0) visit(resumed[row]!, stopped[row]!, after / (stopped[row]! - resumed[row]!));
}

/**
 * Returns the seconds in which a seceded task used its thread, before and after its last wait for a result. The trace has
 * only the sum of both, so the time after the wait is assumed to be used completely, as far as the sum allows.
 */
export function secededUse(
  { stopped, seceded, resumed, waited }: Trace['tasks'],
  row: number,
): { readonly between: number; readonly after: number } {
  const used = Math.max(0, stopped[row]! - seceded[row]! - waited[row]!);
  const after = Math.min(used, stopped[row]! - resumed[row]!);
  return { between: Math.min(used - after, resumed[row]! - seceded[row]!), after };
}

/** Returns the lanes of a trace, made once. Cost: some walks over the tasks. */
export const lanesOf = oncePer((trace: Trace): Lanes => {
  const { length, worker, thread, started, stopped, seceded } = trace.tasks;
  const pairs = new PairIndex(trace.workers.length + 1);
  const laneOf = new Int32Array(length);
  for (let row = 0; row < length; row++)
    laneOf[row] = ran(trace, row) ? pairs.of(thread[row]! + 1, worker[row]! + 1) : -1;
  const stop = seceded.map((time, row) => (Number.isNaN(time) ? stopped[row]! : time));
  const ordered = () => {
    const offsets = countedOffsets(laneOf, pairs.length);
    return { offsets, spans: timeSpans(laneOf, offsets, started, stop) };
  };
  let order = ordered();
  const outer = outerSlices(trace, order);
  for (let row = 0; row < outer.length; row++) if (outer[row]! >= 0) laneOf[row] = -1;
  if (outer.length > 0) order = ordered();
  return {
    count: pairs.length,
    worker: pairs.seconds.map((index) => index - 1),
    thread: pairs.firsts.map((index) => index - 1),
    laneOf,
    outer,
    stop,
    ...order,
  };
});

/** Seconds by which the times of a slice and of one inside of it may differ: many programs round both to whole microseconds. */
const ROUNDING = 1.5e-6;

/**
 * Finds the slices that are inside of others on their thread, as in Chrome traces of other programs: they are parts of these, and
 * would count twice. Recorded runs have a time of their report. Their tasks do not nest, but asynchronous ones overlap.
 */
function outerSlices({ tasks }: Trace, { spans, offsets }: Pick<Lanes, 'spans' | 'offsets'>): Int32Array {
  const { length, thread, acknowledged } = tasks;
  let outer = new Int32Array(0);
  for (let lane = 0; lane + 1 < offsets.length; lane++) {
    const rows = spans.rows.subarray(offsets[lane]!, offsets[lane + 1]!);
    const [first = -1] = rows;
    if (!(thread[first]! >= 0 && Number.isNaN(acknowledged[first]!))) continue;
    const pairs = nestedPairs(tasks, rows);
    if (pairs.length > 0 && outer.length === 0) outer = new Int32Array(length).fill(-1);
    for (let at = 0; at < pairs.length; at += 2) outer[pairs[at]!] = pairs[at + 1]!;
  }
  return outer;
}

/** Returns slices of a thread and a slice around each, in turns; none if slices overlap without one inside of the other. */
function nestedPairs({ started, stopped }: Trace['tasks'], rows: Int32Array): number[] {
  const pairs: number[] = [];
  let outer = rows[0]!;
  for (const row of rows.subarray(1)) {
    const overlaps = started[row]! < stopped[outer]! - ROUNDING;
    if (overlaps && stopped[row]! <= stopped[outer]! + ROUNDING) pairs.push(row, outer);
    else {
      if (overlaps && started[row]! > started[outer]! + ROUNDING) return [];
      if (overlaps) pairs.push(outer, row);
      outer = row;
    }
  }
  return pairs;
}

/** Returns the outermost slice around a slice; the row itself if it is not inside of another. */
export function outermost({ outer }: Lanes, row: number): number {
  let out = row;
  while (outer[out]! >= 0) out = outer[out]!;
  return out;
}

/** Returns the task whose end a task awaited for an input: the outermost slice around the input, -1 if this had not ended. */
export function awaitedInput(trace: Trace, row: number, input: number): number {
  const { started, stopped } = trace.tasks;
  const out = outermost(lanesOf(trace), input);
  return out === input || stopped[out]! <= started[row]! + ROUNDING ? out : -1;
}

/** Returns the task of a lane that was running at a time, or the last one that stopped before; -1 if there is none. */
export function taskBefore(trace: Trace, lane: number, time: number): number {
  const { spans, offsets } = lanesOf(trace);
  const at = firstFrom(spans.rows, trace.tasks.started, time, offsets[lane]!, offsets[lane + 1]!) - 1;
  return at < offsets[lane]! ? -1 : spans.latest[at]!;
}

/** Sorts rows by group and start. Sorted rows cost only one walk. */
export function timeSpans(
  groupOf: Int32Array,
  offsets: Int32Array,
  start: Float64Array,
  stop: Float64Array,
): TimeSpans {
  const groups = offsets.length - 1;
  const rows = groupedRows(groupOf, offsets);
  const latest = new Int32Array(rows.length);
  for (let group = 0; group < groups; group++) {
    const [from, to] = [offsets[group]!, offsets[group + 1]!];
    sortBy(rows.subarray(from, to), start);
    for (let at = from; at < to; at++) {
      const row = rows[at]!;
      const before = at === from ? row : latest[at - 1]!;
      latest[at] = stop[row]! >= stop[before]! ? row : before;
    }
  }
  return { rows, latest };
}

/** Returns the first position in `rows[from .. to)` of a row that starts at `time` or later. */
export function firstFrom(
  rows: Int32Array,
  start: Float64Array,
  time: number,
  from: number,
  to: number,
): number {
  return firstWhere(from, to, (at) => !(start[rows[at]!]! < time));
}

/** Returns the rows of a group that overlap with a time span, last first. */
export function overlapping(
  spans: TimeSpans,
  offsets: Int32Array,
  group: number,
  { start, stop }: { readonly start: Float64Array; readonly stop: Float64Array },
  from: number,
  to: number,
): number[] {
  const rows: number[] = [];
  const first = offsets[group]!;
  for (let at = firstFrom(spans.rows, start, to, first, offsets[group + 1]!) - 1; at >= first; at--) {
    if (stop[spans.latest[at]!]! <= from) break;
    if (stop[spans.rows[at]!]! > from) rows.push(spans.rows[at]!);
  }
  return rows;
}
