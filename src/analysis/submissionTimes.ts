// When the client handed over which tasks, and what it had waited for. If nothing of it was running any more it had
// waited for the last result; if something was, and it acted soon after a result, for that one; else it went on by
// itself.
import { oncePer } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';
import { lanesOf } from './lanes.js';

export interface SubmissionTimes {
  /** Row of tasks → submission; -1 where the trace does not say when it was submitted, or the run does not count. */
  readonly submissionOf: Int32Array;
  /** SubmissionTimes by time; seconds since the epoch. */
  readonly time: Float64Array;
  /** By submission: the row of tasks whose result came last before it; -1: it follows the submission before. */
  readonly cause: Int32Array;
}

/** The submissions of a trace, found once. Cost: some walks over tasks and edges, and a sort of the last tasks. */
export const submissionsOf = oncePer((trace: Trace): SubmissionTimes => {
  const times = submissionTimes(trace);
  return { ...times, cause: causes(trace, times) };
});

/** When the client, or the scheduler beside it, knew of a result. */
export function knownAt({ tasks }: Trace, row: number): number {
  const { stopped, acknowledged } = tasks;
  // NaN where the trace does not say.
  return Math.max(stopped[row]!, acknowledged[row]! || Number.NEGATIVE_INFINITY);
}

function causes(trace: Trace, { submissionOf, time }: Omit<SubmissionTimes, 'cause'>): Int32Array {
  const cause = new Int32Array(time.length).fill(-1);
  if (time.length < 2) return cause;
  const results = lastTasks(trace, submissionOf);
  const at = Float64Array.from(results, (row) => knownAt(trace, row));
  const ends = new Float64Array(time.length).fill(Number.NEGATIVE_INFINITY);
  for (const [i, row] of results.entries()) ends[submissionOf[row]!] = at[i]!;
  let next = 0;
  let running = Number.NEGATIVE_INFINITY;
  for (let submission = 1; submission < time.length; submission++) {
    const now = time[submission]!;
    const before = time[submission - 1]!;
    running = Math.max(running, ends[submission - 1]!);
    while (next < results.length && at[next]! <= now) next++;
    const known = next > 0 ? at[next - 1]! : Number.NEGATIVE_INFINITY;
    if (known <= before) continue;
    if (running <= now || now - known < known - before) cause[submission] = results[next - 1]!;
  }
  return cause;
}

/**
 * What nobody needs within its own submission, by when it was known: only such results can be what a client waits for.
 */
function lastTasks(trace: Trace, submissionOf: Int32Array): Int32Array {
  const { length, dependencyOffsets, dependencyRows } = trace.tasks;
  const needed = new Uint8Array(length);
  for (let row = 0; row < length; row++) {
    if (submissionOf[row]! < 0) continue;
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++) {
      const dependency = dependencyRows[edge]!;
      if (dependency >= 0 && submissionOf[dependency] === submissionOf[row]) needed[dependency] = 1;
    }
  }
  const rows = Int32Array.from({ length }, (_, row) => row).filter(
    (row) => submissionOf[row]! >= 0 && needed[row] === 0,
  );
  return rows.sort((a, b) => knownAt(trace, a) - knownAt(trace, b) || a - b);
}

/** Distinct times of submission in order, and which of them each row has. */
function submissionTimes(trace: Trace): Omit<SubmissionTimes, 'cause'> {
  const { length, submitted } = trace.tasks;
  const { laneOf } = lanesOf(trace);
  const numbers = new Map<number, number>();
  const submissionOf = new Int32Array(length).fill(-1);
  let [time, number] = [Number.NaN, -1];
  for (let row = 0; row < length; row++) {
    if (laneOf[row]! < 0 || Number.isNaN(submitted[row]!)) continue;
    // Rows of one submission mostly follow each other.
    if (submitted[row] !== time) {
      time = submitted[row]!;
      number = numbers.get(time) ?? numbers.size;
      numbers.set(time, number);
    }
    submissionOf[row] = number;
  }
  const times = Float64Array.from(numbers.keys());
  const order = Int32Array.from(times, (_, i) => i).sort((a, b) => times[a]! - times[b]!);
  const rank = new Int32Array(times.length);
  for (const [position, i] of order.entries()) rank[i] = position;
  return {
    submissionOf: submissionOf.map((i) => (i < 0 ? -1 : rank[i]!)),
    time: Float64Array.from(order, (i) => times[i]!),
  };
}
