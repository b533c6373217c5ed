// What ran where: a lane is one thread of one worker, and its tasks stand in the order in which they started. From here
// analyses learn what a worker did at a given moment, also where tasks overlap on a thread because they wait for promises.
import { oncePer } from '../base/lookUps.js';
import { TASK_ERRED, TASK_MEMORY } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';
import { PairIndex } from './pairIndex.js';

/** Spans of time by lane. Lanes are dense numbers, in the order of their first task. */
export interface Lanes {
  readonly count: number;
  /** By lane: row of `trace.workers`, and the thread there; -1 where the trace does not say. */
  readonly worker: Int32Array;
  readonly thread: Int32Array;
  /** By row of tasks; -1 for runs that did not begin or were lost. */
  readonly laneOf: Int32Array;
  /** Rows of lane `l` by start: `spans.rows[offsets[l] .. offsets[l + 1])`. */
  readonly spans: TimeSpans;
  readonly offsets: Int32Array;
}

/** Rows in groups, each by start time, with what is needed to walk back in time through overlapping rows. */
export interface TimeSpans {
  readonly rows: Int32Array;
  /** Beside `rows`: of those up to here in its group, the row that stopped last. */
  readonly latest: Int32Array;
}

/** Whether a run took place and its result counts: others, e.g. on a worker that died, have no time to speak of. */
export function ran(trace: Trace, row: number): boolean {
  const { state, started, stopped } = trace.tasks;
  const way = state[row]!;
  return (way === TASK_MEMORY || way === TASK_ERRED) && stopped[row]! >= started[row]!;
}

/** The lanes of a trace, made once. Cost: a few walks over the tasks. */
export const lanesOf = oncePer((trace: Trace): Lanes => makeLanes(trace));

function makeLanes(trace: Trace): Lanes {
  const { length, worker, thread, started, stopped } = trace.tasks;
  const pairs = new PairIndex(trace.workers.length + 1);
  const laneOf = new Int32Array(length);
  for (let row = 0; row < length; row++)
    laneOf[row] = ran(trace, row) ? pairs.of(thread[row]! + 1, worker[row]! + 1) : -1;
  const offsets = countedOffsets(laneOf, pairs.length);
  return {
    count: pairs.length,
    worker: pairs.seconds.map((index) => index - 1),
    thread: pairs.firsts.map((index) => index - 1),
    laneOf,
    spans: timeSpans(laneOf, offsets, started, stopped),
    offsets,
  };
}

/** Where each group begins in a list sorted by group; rows in group -1 are left out. */
export function countedOffsets(groupOf: Int32Array, groups: number): Int32Array {
  const offsets = new Int32Array(groups + 1);
  for (const group of groupOf) if (group >= 0) offsets[group + 1]! += 1;
  for (let group = 0; group < groups; group++) offsets[group + 1]! += offsets[group]!;
  return offsets;
}

/** Rows of group `g` in their order: `[offsets[g] .. offsets[g + 1])` of the result; rows in group -1 are left out. */
export function groupedRows(groupOf: Int32Array, offsets: Int32Array): Int32Array {
  const groups = offsets.length - 1;
  const rows = new Int32Array(offsets[groups]!);
  const next = offsets.slice(0, groups);
  for (let row = 0; row < groupOf.length; row++) {
    const group = groupOf[row]!;
    if (group >= 0) rows[next[group]!++] = row;
  }
  return rows;
}

/** Sorts rows by group and start. Rows that come in that order already cost one walk. */
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
    sortByStart(rows.subarray(from, to), start);
    for (let at = from; at < to; at++) {
      const row = rows[at]!;
      const before = at === from ? row : latest[at - 1]!;
      latest[at] = stop[row]! >= stop[before]! ? row : before;
    }
  }
  return { rows, latest };
}

function sortByStart(rows: Int32Array, start: Float64Array): void {
  for (let i = 1; i < rows.length; i++) {
    if (start[rows[i]!]! >= start[rows[i - 1]!]!) continue;
    rows.sort((a, b) => start[a]! - start[b]! || a - b);
    return;
  }
}

/** The first place in `rows[from .. to)` whose row starts at `time` or later. */
export function firstFrom(
  rows: Int32Array,
  start: Float64Array,
  time: number,
  from: number,
  to: number,
): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (start[rows[middle]!]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
