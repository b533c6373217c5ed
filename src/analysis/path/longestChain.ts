// Computes the longest chain: how long the graph would take if every task started as soon as its inputs were computed,
// the task was submitted, and its previous run had failed.

import { reversedEdges } from '../../base/groups.js';
import type { Trace } from '../../trace/trace.js';
import { awaitedInput } from '../lanes.js';
import type { Span } from '../spans.js';
import { type AwaitedResults, knownAt, repeatedRuns, submissionsOf } from '../submissionTimes.js';

const NONE = -1;

/**
 * Returns the seconds of the longest chain of dependent tasks. Cost: one walk over rows and edges if dependencies
 * precede dependents, otherwise some walks. Tasks in a cycle, which only damaged files have, are ignored.
 *
 * @param seconds duration of each row; NaN for rows that do not count
 * @param handedOver default: all rows are submitted at time 0
 */
export function longestChain(trace: Trace, seconds: Float64Array, handedOver?: HandOver): number {
  const { dependencyOffsets, dependencyRows, started, seceded } = trace.tasks;
  const repeated = repeatedRuns(trace);
  const ends = new Float64Array(seconds.length);
  const begins = new Float64Array(seconds.length).fill(Number.NaN);
  let longest = 0;
  const begin = (row: number): void => {
    let time = handedOver?.submitted(row, ends, begins) ?? 0;
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++) {
      const dependency = awaitedInput(trace, row, dependencyRows[edge]!);
      if (dependency >= 0 && ends[dependency]! > time) time = ends[dependency]!;
    }
    begins[row] = repeated[row]! < 0 ? time : Math.max(time, ends[repeated[row]!]!);
  };
  const visit = (row: number): void => {
    if (Number.isNaN(seconds[row]!)) return;
    // A task that submits others ends after them, so its row comes later.
    const open = [row];
    for (let last = row; ; ) {
      const next = handedOver?.submitter(last) ?? NONE;
      // In a damaged file, tasks may have submitted each other.
      if (next === NONE || !(started[next]! < started[last]!)) break;
      open.push(next);
      last = next;
    }
    for (let at = open.length - 1; at >= 0; at--) if (Number.isNaN(begins[open[at]!]!)) begin(open[at]!);
    ends[row] = begins[row]! + seconds[row]!;
    if (!Number.isNaN(seceded[row]!))
      for (const awaited of handedOver?.awaited.all(row) ?? [])
        ends[row] = Math.max(ends[row]!, ends[awaited]! + handedOver!.afterWaits(row));
    if (ends[row]! > longest) longest = ends[row]!;
  };
  const order = isOrdered(trace) ? undefined : topologicalRows(trace);
  if (order === undefined) for (let row = 0; row < seconds.length; row++) visit(row);
  else for (const row of order) visit(row);
  return longest;
}

export interface HandOver {
  /** Returns the row whose task submits a row before it awaits a result; -1 if there is none. */
  submitter(row: number): number;
  /** Returns the time at which a row is submitted, given the ends of previous rows and the begin of its submitter. */
  submitted(row: number, ends: Float64Array, begins: Float64Array): number;
  readonly awaited: AwaitedResults;
  /** Returns the seconds of a seceded task after its last awaited result. */
  afterWaits(row: number): number;
}

/**
 * Returns the `handedOver` of `longestChain`. A submission that followed a result keeps its delay after this result.
 * Other submissions keep their delay after the previous submission, or after the start of the task that submits.
 */
export function handOver(trace: Trace, { start, stop }: Span): HandOver {
  const { submissionOf, time, cause, submitter, awaited } = submissionsOf(trace);
  const inside = (from: number, to: number): number =>
    Math.max(0, Math.min(to, stop) - Math.max(from, start)) || 0;
  const times = new Float64Array(time.length).fill(Number.NaN);
  /** The latest submissions of the program. */
  let [next, last] = [0, NONE];
  const submitterOf = (row: number): number => {
    const submission = submissionOf[row]!;
    const task = submission < 0 ? NONE : submitter[submission]!;
    return task >= 0 && cause[submission] === task ? task : NONE;
  };
  const submitted = (row: number, ends: Float64Array, begins: Float64Array): number => {
    const submission = submissionOf[row]!;
    if (submission < 0) return 0;
    const after = (result: number, at: number): number => ends[result]! + inside(knownAt(trace, result), at);
    if (submitter[submission]! >= 0) {
      const task = submitterOf(row);
      return task < 0
        ? after(cause[submission]!, time[submission]!)
        : begins[task]! + inside(trace.tasks.started[task]!, time[submission]!);
    }
    for (; next <= submission; next++) {
      if (submitter[next]! >= 0) continue;
      if (cause[next]! >= 0) times[next] = after(cause[next]!, time[next]!);
      else
        times[next] = last < 0 ? inside(start, time[next]!) : times[last]! + inside(time[last]!, time[next]!);
      last = next;
    }
    return times[submission]!;
  };
  const { resumed, stopped } = trace.tasks;
  return {
    submitter: submitterOf,
    submitted,
    awaited,
    afterWaits: (row) => inside(resumed[row]!, stopped[row]!),
  };
}

function isOrdered({ tasks }: Trace): boolean {
  const { length, dependencyOffsets, dependencyRows } = tasks;
  for (let row = 0; row < length; row++) {
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++)
      if (dependencyRows[edge]! >= row) return false;
  }
  return true;
}

/** Returns rows with dependencies before dependents, without rows that depend on a cycle. */
function topologicalRows({ tasks }: Trace): Int32Array {
  const { length, dependencyOffsets, dependencyRows } = tasks;
  const waiting = new Int32Array(length);
  for (let row = 0; row < length; row++) {
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++)
      if (dependencyRows[edge]! >= 0) waiting[row]! += 1;
  }
  const { offsets, targets: dependents } = reversedEdges(dependencyOffsets, dependencyRows);
  const order = new Int32Array(length);
  let count = 0;
  for (let row = 0; row < length; row++) if (waiting[row] === 0) order[count++] = row;
  for (let at = 0; at < count; at++) {
    const row = order[at]!;
    for (let edge = offsets[row]!; edge < offsets[row + 1]!; edge++) {
      const dependent = dependents[edge]!;
      if (--waiting[dependent]! === 0) order[count++] = dependent;
    }
  }
  return order.subarray(0, count);
}
