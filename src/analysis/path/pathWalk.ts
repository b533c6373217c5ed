// Finds the critical path of a recorded run. The walk starts at the last result and continues, from each task, with its
// last prerequisite.

import { invalidArgument } from '../../base/errors.js';
import { firstWhere, oncePer, pushTo } from '../../base/lookUps.js';
import { type Trace, textOf } from '../../trace/trace.js';
import { type Lanes, lanesOf, outermost, secededUse, taskBefore } from '../lanes.js';
import { contendedLock } from '../leaseWaits.js';
import type { Span } from '../spans.js';
import { knownAt, repeatedRuns, type SubmissionTimes, submissionsOf } from '../submissionTimes.js';
import { unfinishedRuns } from '../unfinishedRuns.js';
import { packedAt } from '../workIntervals.js';
import { type PathColumns, type PathKind, PathParts } from './pathParts.js';
import { Stretches } from './stretches.js';

const NONE = -1;

/** Seconds within which a task that waited for its thread continues when another one has ended there. */
const NEXT = 0.05;

/**
 * Returns the window from the first submission, or else the first start of a task, to the last acknowledged result or the
 * end of the last run without result.
 */
export const windowOf = oncePer((trace: Trace): Span => {
  const { submitted, started, stopped, acknowledged } = trace.tasks;
  const { laneOf } = lanesOf(trace);
  let start = Number.POSITIVE_INFINITY;
  let stop = Number.NEGATIVE_INFINITY;
  let first = -1;
  for (let row = 0; row < laneOf.length; row++) {
    if (laneOf[row]! < 0) continue;
    start = Math.min(start, started[row]!);
    stop = Math.max(stop, stopped[row]!);
    // These times are NaN if they are not recorded.
    if (submitted[row]! < start) [start, first] = [submitted[row]!, row];
    if (acknowledged[row]! > stop) stop = acknowledged[row]!;
  }
  for (const run of unfinishedRuns(trace)) {
    start = Math.min(start, run.start);
    stop = Math.max(stop, run.stop);
    if (submitted[run.row]! < start) [start, first] = [submitted[run.row]!, run.row];
  }
  // The call of the program began before the submission.
  const called = first < 0 ? undefined : trace.computations[trace.tasks.computation[first]!]?.start;
  if (called !== undefined && called < start) start = called;
  return start <= stop ? { start, stop } : { start: Number.NaN, stop: Number.NaN };
});

/** Returns by lane the seceded tasks that computed after their last wait for most of the time, in order of their ends. */
const resumedTasks = oncePer((trace: Trace): ReadonlyMap<number, readonly number[]> => {
  const { tasks } = trace;
  const { laneOf } = lanesOf(trace);
  const rows = Array.from(laneOf.keys()).filter((row) => {
    const seconds = tasks.stopped[row]! - tasks.resumed[row]!;
    return laneOf[row]! >= 0 && seconds > 0 && 2 * secededUse(tasks, row).after >= seconds;
  });
  const byLane = new Map<number, number[]>();
  for (const row of rows.sort((a, b) => tasks.stopped[a]! - tasks.stopped[b]!))
    pushTo(byLane, laneOf[row]!, row);
  return byLane;
});

/** Returns the window of the whole run, of which `windowOf` is the last part if rows of tasks were evicted. */
export function wholeWindow(trace: Trace): Span {
  const { start, stop } = windowOf(trace);
  return { start: Math.min(start, trace.totals.start || start), stop };
}

/**
 * Returns the given window. A missing or infinite limit is replaced by that of the trace.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if `stop` is before `start`, or either is not a number
 */
export function requestedWindow(trace: Trace, asked: Partial<Span>): Span {
  const whole = windowOf(trace);
  const own = (time: number | undefined, infinity: number, otherwise: number): number =>
    time === undefined || time === infinity ? otherwise : time;
  const start = own(asked.start, Number.NEGATIVE_INFINITY, whole.start);
  const stop = own(asked.stop, Number.POSITIVE_INFINITY, whole.stop);
  const isGiven = asked.start !== undefined || asked.stop !== undefined;
  if (!isGiven || start <= stop || Number.isNaN(whole.start)) return { start, stop };
  throw invalidArgument(
    `The window from ${start} to ${stop} is invalid: pass times in seconds since the epoch, with a stop that is not before the start. The trace goes from ${whole.start} to ${whole.stop}.`,
  );
}

/** Returns the parts of the path, which cover the window without gaps. Cost: O(parts · log tasks). */
export function walkPath(trace: Trace, window: Span): PathColumns {
  return new PathWalk(trace, window).run();
}

class PathWalk {
  readonly #trace: Trace;
  readonly #window: Span;
  readonly #lanes: Lanes;
  readonly #submissions: SubmissionTimes;
  readonly #parts: PathParts;
  readonly #stretches: Stretches;
  /** Rows that are on the path already, to stop at a cycle of a damaged file. */
  readonly #visited: Uint8Array;
  /** Prefixes whose tasks waited for the most contended lock. */
  readonly #lockers: ReadonlySet<string>;

  constructor(trace: Trace, window: Span) {
    this.#trace = trace;
    this.#window = window;
    this.#lanes = lanesOf(trace);
    this.#submissions = submissionsOf(trace);
    this.#parts = new PathParts(window.start, window.stop, trace.tasks.prefix);
    this.#stretches = new Stretches(trace, this.#parts);
    this.#visited = new Uint8Array(trace.tasks.length);
    this.#lockers = new Set(contendedLock(trace)?.byPrefix.keys());
  }

  run(): PathColumns {
    const parts = this.#parts;
    let row = this.#lastRow();
    if (row === NONE) this.#clientTime(this.#window.start);
    else this.#afterLast(row);
    while (row !== NONE && !parts.isDone) row = this.#step(row);
    parts.back(this.#window.start, 'unknown', NONE, NONE);
    return parts.columns(this.#window.stop);
  }

  /**
   * Returns the task run whose result the client knew last, among those that started before the end of the window. Of results
   * that were not yet known at the end, it is the one of the run that stopped last.
   */
  #lastRow(): number {
    const { started, stopped } = this.#trace.tasks;
    const { laneOf } = this.#lanes;
    let last = NONE;
    let lastKnown = Number.NEGATIVE_INFINITY;
    for (let row = 0; row < laneOf.length; row++) {
      if (laneOf[row]! < 0 || started[row]! >= this.#window.stop) continue;
      const known = Math.min(knownAt(this.#trace, row), this.#window.stop);
      if (known < lastKnown || (known === lastKnown && stopped[row]! <= stopped[last]!)) continue;
      last = row;
      lastKnown = known;
    }
    return last;
  }

  /**
   * Adds the time after a task for which the client waited: packing, then the message to the client, then client time.
   */
  #afterLast(row: number): void {
    this.#clientTime(knownAt(this.#trace, row));
    const packed = packedAt(this.#trace, row);
    this.#parts.back(packed, 'waiting for the scheduler', row, this.#trace.tasks.worker[row]!);
    this.#stretches.packing(row, row);
  }

  /**
   * Adds the time from `from` to the cursor: client time, runs without result, and the waits of such runs for a worker, e.g. for
   * the one that replaces a lost one.
   */
  #clientTime(from: number): void {
    const parts = this.#parts;
    const { ready, worker } = this.#trace.tasks;
    let waited = NONE;
    const before = (time: number): void => {
      if (waited !== NONE && ready[waited]! < parts.cursor)
        parts.back(Math.max(time, ready[waited]!), 'waiting for a worker', waited, worker[waited]!, NONE);
      parts.back(time, 'client time', NONE, NONE);
    };
    for (const { row, start, stop } of unfinishedRuns(this.#trace)) {
      if (start >= parts.cursor) continue;
      if (stop <= from) break;
      before(Math.max(from, stop));
      parts.back(Math.max(from, start), 'run without result', row, worker[row]!);
      waited = row;
    }
    before(from);
  }

  /**
   * Adds the part of a task before the cursor, and its waits. Returns the previous task on the path, or -1. A task that
   * submits tasks and waits for them may be on the path several times, with its tasks between.
   */
  #step(row: number): number {
    const { started, stopped, seceded } = this.#trace.tasks;
    if (this.#parts.cursor > seceded[row]!) {
      const awaited = this.#awaitedBy(row);
      if (awaited !== NONE) return awaited;
    }
    this.#visited[row] = 1;
    this.#stretches.execution(row, started[row]!);
    if (this.#parts.isDone) return NONE;
    const failed = repeatedRuns(this.#trace)[row]!;
    if (failed !== NONE && this.#visited[failed] === 0) {
      this.#stretches.wait(row, Math.min(stopped[failed]!, started[row]!));
      return failed;
    }
    const dependency = this.#lastDependency(row);
    const arrived =
      dependency === NONE ? Number.NEGATIVE_INFINITY : Math.min(stopped[dependency]!, started[row]!);
    const submission = this.#submissions.submissionOf[row]!;
    const submitted = submission < 0 ? Number.NEGATIVE_INFINITY : this.#submissions.time[submission]!;
    if (dependency !== NONE && arrived >= submitted) {
      this.#stretches.wait(row, Math.min(packedAt(this.#trace, dependency), started[row]!));
      this.#stretches.packing(dependency, row);
      return dependency;
    }
    this.#stretches.wait(row, submitted);
    return submission < 0 ? NONE : this.#beforeSubmission(submission);
  }

  /**
   * Adds the part of a seceded task after its last awaited result. Returns the task of this result, or -1 if the task
   * awaited something else: then all its wait is added.
   */
  #awaitedBy(row: number): number {
    const parts = this.#parts;
    const { tasks } = this.#trace;
    const { seceded, resumed, stopped, worker } = tasks;
    const use = secededUse(tasks, row);
    // Times on the thread are not recorded one by one. A stretch is computing if the task may have computed for half of it.
    const add = (from: number, seconds: number, otherwise: PathKind): void => {
      if (2 * seconds >= parts.cursor - from) this.#stretches.execution(row, from);
      else parts.back(from, otherwise, row, worker[row]!);
    };
    const isBetween = parts.cursor < resumed[row]!;
    if (!isBetween)
      add(
        resumed[row]!,
        (use.after * (parts.cursor - resumed[row]!)) / (stopped[row]! - resumed[row]!) || 0,
        'awaiting',
      );
    const task = this.#submissions.awaited.before(row, parts.cursor);
    const known = task === NONE ? Number.NaN : Math.min(knownAt(this.#trace, task), parts.cursor);
    // A task that waits for the results of its first submission leaves its slot before the scheduler receives it.
    if (known > seceded[row]! && this.#visited[task] === 0) {
      if (2 * use.between < parts.cursor - known) {
        const other = this.#heldBy(row, known);
        if (other !== NONE) return other;
      }
      add(known, use.between, 'waiting for the scheduler');
      this.#afterLast(task);
      return task;
    }
    if (!isBetween) this.#behindOthers(row);
    add(seceded[row]!, use.between, isBetween ? 'waiting for the scheduler' : 'awaiting');
    return NONE;
  }

  /**
   * Adds the time before the cursor in which tasks that had left their slots, too, used the thread one after another. Such tasks
   * may also have held a lock in turn. If the thread did nothing for longer than such a task computed before, this one waited
   * for something else, e.g. for the next item of a queue.
   */
  #behindOthers(row: number): void {
    const parts = this.#parts;
    const { seceded, resumed, stopped, worker, prefix } = this.#trace.tasks;
    if (this.#lockers.has(textOf(this.#trace.strings, prefix[row]!))) return;
    for (;;) {
      const other = this.#resumedBefore(row, parts.cursor, Math.max(seceded[row]!, parts.cursor - NEXT));
      if (other === NONE || stopped[other]! <= parts.windowStart) return;
      if (parts.cursor - stopped[other]! > stopped[other]! - resumed[other]!) return;
      parts.wait(Math.max(resumed[other]!, seceded[row]!), row, worker[row]!, other, 'compute');
    }
  }

  /**
   * Adds the time before the cursor since the result that a seceded task awaited was known: other tasks used its thread, or
   * the result was on its way. Returns the task that used the thread for most of this time, which then is not added; otherwise -1.
   */
  #heldBy(row: number, known: number): number {
    const parts = this.#parts;
    const from = Math.max(known, parts.windowStart);
    const { worker, started, stopped } = this.#trace.tasks;
    const most = (parts.cursor - from) / 2;
    while (parts.cursor > from) {
      const task = taskBefore(this.#trace, this.#lanes.laneOf[row]!, parts.cursor);
      const left = task === NONE ? Number.NEGATIVE_INFINITY : this.#lanes.stop[task]!;
      // A task that still has its slot when this one continues was awaiting something.
      const isAway = left > parts.cursor;
      const end = Math.max(isAway ? started[task]! : left, from);
      const resumed = this.#resumedBefore(row, parts.cursor, end);
      if (resumed !== NONE) {
        const since = Math.max(this.#trace.tasks.resumed[resumed]!, end);
        parts.back(stopped[resumed]!, 'waiting for the scheduler', row, worker[row]!);
        if (parts.cursor - since > most && this.#visited[resumed] === 0) return resumed;
        parts.wait(since, row, worker[row]!, resumed, 'compute');
        continue;
      }
      parts.back(end, 'waiting for the scheduler', row, worker[row]!);
      const start = task === NONE ? from : Math.max(started[task]!, from);
      if (end - start > most && this.#visited[task] === 0) return task;
      parts.wait(start, row, worker[row]!, task, 'compute');
    }
    return NONE;
  }

  /** Returns the seceded task that used the thread of `row` after its last wait, and stopped last between `since` and `time`, or -1. */
  #resumedBefore(row: number, time: number, since: number): number {
    const { stopped } = this.#trace.tasks;
    const rows = resumedTasks(this.#trace).get(this.#lanes.laneOf[row]!) ?? [];
    let at = firstWhere(0, rows.length, (index) => stopped[rows[index]!]! > time) - 1;
    if (rows[at] === row) at--;
    return at >= 0 && stopped[rows[at]!]! > since ? rows[at]! : NONE;
  }

  #lastDependency(row: number): number {
    const { dependencyOffsets, dependencyRows, stopped } = this.#trace.tasks;
    let last = NONE;
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++) {
      const dependency = outermost(this.#lanes, dependencyRows[edge]!);
      if (dependency < 0 || this.#visited[dependency] === 1 || this.#lanes.laneOf[dependency]! < 0) continue;
      if (last === NONE || stopped[dependency]! > stopped[last]!) last = dependency;
    }
    return last;
  }

  /**
   * Adds the client time before a submission. Returns the task with the result for which the client had waited, the task
   * that submitted, or -1.
   */
  #beforeSubmission(submission: number): number {
    const { cause, submitter } = this.#submissions;
    if (submitter[submission] !== NONE) return submitter[submission]!;
    let first = submission;
    while (first >= 0 && (cause[first] === NONE || submitter[first] !== NONE)) first--;
    const before = first < 0 ? NONE : cause[first]!;
    if (before === NONE) {
      this.#clientTime(this.#window.start);
      return NONE;
    }
    if (this.#visited[before] === 1) return NONE;
    this.#afterLast(before);
    return before;
  }
}
