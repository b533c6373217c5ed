// Computes the longest chain: how long the graph would take if every task started as soon as its inputs were computed
// and the task was submitted.
import type { Trace } from '../../trace/trace.js';
import { knownAt, submissionsOf } from '../submissionTimes.js';
import type { Window } from './pathWalk.js';

/**
 * Returns the seconds of the longest chain of dependent tasks. Cost: one walk over rows and edges if dependencies
 * precede dependents, otherwise some walks. Tasks in a cycle, which only damaged files have, are ignored.
 *
 * @param seconds duration of each row; NaN for rows that do not count
 * @param handedOver returns the time at which the client submits a row, given the ends of previous rows; default: 0
 */
export function longestChain(
  trace: Trace,
  seconds: Float64Array,
  handedOver?: (row: number, ends: Float64Array) => number,
): number {
  const { dependencyOffsets, dependencyRows } = trace.tasks;
  const ends = new Float64Array(seconds.length);
  let longest = 0;
  const visit = (row: number): void => {
    if (Number.isNaN(seconds[row]!)) return;
    let begin = handedOver?.(row, ends) ?? 0;
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++) {
      const dependency = dependencyRows[edge]!;
      if (dependency >= 0 && ends[dependency]! > begin) begin = ends[dependency]!;
    }
    ends[row] = begin + seconds[row]!;
    if (ends[row]! > longest) longest = ends[row]!;
  };
  const order = isOrdered(trace) ? undefined : topologicalRows(trace);
  if (order === undefined) for (let row = 0; row < seconds.length; row++) visit(row);
  else for (const row of order) visit(row);
  return longest;
}

/**
 * Returns the `handedOver` of `longestChain`. A submission that followed a result keeps its delay after this result.
 * Other submissions keep their delay after the previous submission.
 */
export function handOver(trace: Trace, { start, stop }: Window): (row: number, ends: Float64Array) => number {
  const { submissionOf, time, cause } = submissionsOf(trace);
  const inside = (from: number, to: number): number =>
    Math.max(0, Math.min(to, stop) - Math.max(from, start)) || 0;
  const begins = new Float64Array(time.length).fill(Number.NaN);
  let next = 0;
  return (row, ends) => {
    const submission = submissionOf[row]!;
    if (submission < 0) return 0;
    for (; next <= submission; next++) {
      const before = cause[next]!;
      if (before >= 0) begins[next] = ends[before]! + inside(knownAt(trace, before), time[next]!);
      else
        begins[next] =
          next === 0 ? inside(start, time[0]!) : begins[next - 1]! + inside(time[next - 1]!, time[next]!);
    }
    return begins[submission]!;
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
  const offsets = new Int32Array(length + 1);
  for (const dependency of dependencyRows) if (dependency >= 0) offsets[dependency + 1]! += 1;
  for (let row = 0; row < length; row++) offsets[row + 1]! += offsets[row]!;
  const dependents = new Int32Array(offsets[length]!);
  const next = offsets.slice();
  for (let row = 0; row < length; row++) {
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++) {
      const dependency = dependencyRows[edge]!;
      if (dependency < 0) continue;
      waiting[row]! += 1;
      dependents[next[dependency]!++] = row;
    }
  }
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
