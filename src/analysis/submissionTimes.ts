// Finds when the client submitted which tasks, and the result after which it did. If none of its tasks were running,
// the client had waited for the last result. If some were, but a result came shortly before, the client had waited for
// that result. Otherwise the client waited for nothing.
import { oncePer } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';
import { lanesOf } from './lanes.js';

export interface SubmissionTimes {
  /** Submission by row of tasks; -1 if its time is not recorded, or for runs without a result. */
  readonly submissionOf: Int32Array;
  /** Time of each submission in order, seconds since the epoch. */
  readonly time: Float64Array;
  /** Row of the task for which the client waited before each submission; -1 if it waited for none. */
  readonly cause: Int32Array;
}

/**
 * Returns the submissions of a trace, found once. Cost: some walks over tasks and edges, and a sort of the last tasks.
 */
export const submissionsOf = oncePer((trace: Trace): SubmissionTimes => {
  const times = submissionTimes(trace);
  return { ...times, cause: causes(trace, times) };
});

/** Returns the time at which the client, or the scheduler in its process, received a result. */
export function knownAt({ tasks }: Trace, row: number): number {
  const { stopped, acknowledged } = tasks;
  // `acknowledged` is NaN if it is not recorded.
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
 * Returns rows of tasks without dependents in their submission, by time of their results. A client waits for such
 * tasks.
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

/** Returns the distinct times of submission in order, and the submission of each row. */
function submissionTimes(trace: Trace): Omit<SubmissionTimes, 'cause'> {
  const { length, submitted } = trace.tasks;
  const { laneOf } = lanesOf(trace);
  const numbers = new Map<number, number>();
  const submissionOf = new Int32Array(length).fill(-1);
  let [time, number] = [Number.NaN, -1];
  for (let row = 0; row < length; row++) {
    if (laneOf[row]! < 0 || Number.isNaN(submitted[row]!)) continue;
    // Consecutive rows mostly belong to one submission.
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
