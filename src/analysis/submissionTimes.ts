// Finds when the client submitted which tasks, and the result after which it did. If none of its tasks were running,
// the client had waited for the last result. If some were, but a result came shortly before, the client had waited for
// that result. Otherwise the client waited for nothing. Tasks submit, too.
import { checkArgument, TRACE } from '../base/arguments.js';
import { rowsWhere } from '../base/groups.js';
import { firstWhere, oncePer, pushTo } from '../base/lookUps.js';
import { taskOfClient } from '../protocol/clientNames.js';
import { TASK_ERRED } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';
import { lanesOf, ran } from './lanes.js';

export interface SubmissionTimes {
  /** Submission by row of tasks; -1 if its time is not recorded, or for runs without a result. */
  readonly submissionOf: Int32Array;
  /** Time of each submission in order, seconds since the epoch. */
  readonly time: Float64Array;
  /** Row of the task whose code submitted; -1 for the program. */
  readonly submitter: Int32Array;
  /**
   * Row of the task for which the client waited before each submission; -1 if it waited for none. A task that had not
   * waited for any result is itself the cause of its submissions.
   */
  readonly cause: Int32Array;
  readonly awaited: AwaitedResults;
}

type Times = Pick<SubmissionTimes, 'submissionOf' | 'time'>;

/**
 * Returns the submissions of a trace, computed once per trace. Cost: several passes over the tasks and their edges. The
 * tasks without dependents in their submission are also sorted.
 */
export const submissionsOf = oncePer((trace: Trace): SubmissionTimes => {
  const times = submissionTimes(trace);
  const submitter = submittersOf(trace, times);
  const cause = causes(trace, times, submitter);
  const awaited = new AwaitedResults(trace, times.submissionOf, submitter);
  for (const [submission, task] of submitter.entries()) {
    if (task < 0) continue;
    const before = awaited.before(task, times.time[submission]!);
    cause[submission] = before < 0 ? task : before;
  }
  return { ...times, submitter, cause, awaited };
});

/** The results that seceded tasks awaited: those of the tasks that they submitted. */
export class AwaitedResults {
  readonly #trace: Trace;
  /** By row of the submitting task, the rows of its finished tasks by end. */
  readonly #rows = new Map<number, number[]>();

  constructor(trace: Trace, submissionOf: Int32Array, submitter: Int32Array) {
    this.#trace = trace;
    if (!submitter.some((row) => row >= 0)) return;
    for (const [row, submission] of submissionOf.entries()) {
      const task = submission < 0 ? -1 : submitter[submission]!;
      if (task < 0 || Number.isNaN(trace.tasks.seceded[task]!)) continue;
      pushTo(this.#rows, task, row);
    }
    const { stopped } = trace.tasks;
    for (const rows of this.#rows.values()) rows.sort((a, b) => stopped[a]! - stopped[b]!);
  }

  /**
   * Returns the task that ended last before `time`, of those that the seceded task submitted; -1 if none had ended.
   * When the seceded task received the result is not recorded. Cost: a binary search.
   */
  before(task: number, time: number): number {
    const rows = this.#rows.get(task) ?? [];
    const later = firstWhere(0, rows.length, (at) => this.#trace.tasks.stopped[rows[at]!]! > time);
    return rows[later - 1] ?? -1;
  }

  /** Returns the tasks that ended before the last wait of the seceded task that submitted them. */
  all(task: number): readonly number[] {
    const rows = this.#rows.get(task) ?? [];
    const last = this.before(task, this.#trace.tasks.resumed[task]!);
    return rows.slice(0, rows.indexOf(last) + 1);
  }
}

/** Returns, by submission, the row of the task whose code submitted it; -1 for the program. */
function submittersOf(trace: Trace, { submissionOf, time }: Times): Int32Array {
  const { tasks, computations } = trace;
  const submitter = new Int32Array(time.length).fill(-1);
  const clients = computations.map(({ client }) => taskOfClient(client));
  if (clients.every((key) => key === undefined)) return submitter;
  const keys = new Set(clients);
  const runs = new Map<string, number[]>();
  for (let row = 0; row < tasks.length; row++) {
    const key = tasks.keyOf(row);
    if (keys.has(key)) pushTo(runs, key, row);
  }
  for (const [row, submission] of submissionOf.entries()) {
    const key = clients[tasks.computation[row]!];
    if (submission < 0 || key === undefined) continue;
    const at = time[submission]!;
    const isOpen = (run: number): boolean => tasks.started[run]! <= at && at <= tasks.stopped[run]!;
    submitter[submission] = runs.get(key)?.find(isOpen) ?? -1;
  }
  return submitter;
}

/** Returns the time at which the client, or the scheduler in its process, received a result. */
export function knownAt({ tasks }: Trace, row: number): number {
  const { stopped, acknowledged } = tasks;
  // `acknowledged` is NaN if it is not recorded.
  return Math.max(stopped[row]!, acknowledged[row]! || Number.NEGATIVE_INFINITY);
}

function causes(trace: Trace, { submissionOf, time }: Times, submitter: Int32Array): Int32Array {
  const cause = new Int32Array(time.length).fill(-1);
  if (time.length < 2) return cause;
  const results = lastTasks(trace, submissionOf).filter((row) => submitter[submissionOf[row]!]! < 0);
  const at = Float64Array.from(results, (row) => knownAt(trace, row));
  const ends = new Float64Array(time.length).fill(Number.NEGATIVE_INFINITY);
  for (const [i, row] of results.entries()) ends[submissionOf[row]!] = at[i]!;
  let next = 0;
  let running = Number.NEGATIVE_INFINITY;
  let last = -1;
  for (let submission = 0; submission < time.length; submission++) {
    if (submitter[submission]! >= 0) continue;
    const previous = last;
    last = submission;
    if (previous < 0) continue;
    const now = time[submission]!;
    const before = time[previous]!;
    running = Math.max(running, ends[previous]!);
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
  const rows = rowsWhere(length, (row) => submissionOf[row]! >= 0 && needed[row] === 0);
  return rows.sort((a, b) => knownAt(trace, a) - knownAt(trace, b) || a - b);
}

/** Returns the distinct times of submission in order, and the submission of each row. */
function submissionTimes(trace: Trace): Times {
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

/**
 * Returns, by row of tasks, the row of the failed run that the run repeats (`retries`); -1 if it repeats none, or a run that
 * was lost. A run cannot begin before the failed one has ended. Computed once per trace.
 */
export const repeatedRuns = oncePer((trace: Trace): Int32Array => {
  const { attempt, state } = trace.tasks;
  return previousRuns(trace).map((before, row) => {
    const isRepeated = attempt[row]! > 1 && state[before] === TASK_ERRED && ran(trace, before);
    return isRepeated ? before : -1;
  });
});

/** Returns, by row of tasks, the row of the run of the same task before; -1 if there is none. Computed once per trace. */
export const previousRuns = oncePer(({ tasks: { length, id, attempt } }: Trace): Int32Array => {
  const previous = new Int32Array(length).fill(-1);
  if (!attempt.some((number) => number > 1)) return previous;
  const last = new Map<number, number>();
  for (let row = 0; row < length; row++) {
    previous[row] = last.get(id[row]!) ?? -1;
    last.set(id[row]!, row);
  }
  return previous;
});

/** Returns the number of failed runs that another run of the same task followed. */
export function repeatedCount(trace: Trace): number {
  checkArgument('repeatedCount(): trace', trace, TRACE);
  return repeatedRuns(trace).reduce((count, row) => (row < 0 ? count : count + 1), 0);
}

/**
 * Returns `ready` by row of tasks. A run that repeats a failed one is ready when the scheduler knows of the failure.
 * Computed once per trace.
 */
export const readyTimes = oncePer((trace: Trace): Float64Array => {
  const { ready } = trace.tasks;
  const repeated = repeatedRuns(trace);
  if (!repeated.some((row) => row >= 0)) return ready;
  return ready.map((time, row) =>
    repeated[row]! < 0 ? time : Math.max(time, knownAt(trace, repeated[row]!)),
  );
});
