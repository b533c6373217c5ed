// Divides the execution of a task and its waits into parts of the critical path.
import type { Trace } from '../../trace/trace.js';
import { firstFrom, type Lanes, lanesOf, taskBefore } from '../lanes.js';
import { lostWorkers, replacedWorkers, unnoticedLosses } from '../lostWork.js';
import { receivingSpans } from '../programTransfers.js';
import { UnfinishedWalk } from '../unfinishedRuns.js';
import { firstStart, firstStarts, isRemote, pausesOf, poolStart, restartsOf } from '../workerLives.js';
import { actionOf, CLOCK, type WorkIntervals, workIntervalsOf } from '../workIntervals.js';
import { fullSpansBetween } from './fullSlots.js';
import type { PathKind, PathParts } from './pathParts.js';
import { Senders } from './senders.js';

const NONE = -1;

export class Stretches {
  readonly #trace: Trace;
  readonly #lanes: Lanes;
  readonly #intervals: WorkIntervals;
  readonly #parts: PathParts;
  /** First start of a task in the trace. */
  readonly #firstStart: number;
  readonly #senders: Senders;
  readonly #isDask: boolean;
  /** Rows of tasks that ran again because their result was lost. */
  readonly #again: ReadonlySet<number>;
  readonly #unfinished: UnfinishedWalk;

  constructor(trace: Trace, parts: PathParts) {
    this.#trace = trace;
    this.#lanes = lanesOf(trace);
    this.#intervals = workIntervalsOf(trace);
    this.#parts = parts;
    this.#firstStart = firstStart(trace);
    this.#senders = new Senders(trace);
    this.#isDask = isRemote(trace);
    this.#again = new Set(lostWorkers(trace).flatMap(({ again }) => again));
    this.#unfinished = new UnfinishedWalk(trace);
  }

  /** Adds the time from `from` to the cursor, in which the task computed, divided by the intervals inside it. */
  execution(row: number, from: number): void {
    this.#within(row, from, this.#computeKind(row), row, row);
  }

  #computeKind(row: number): PathKind {
    return this.#again.has(row) ? 'recomputed' : 'compute';
  }

  /**
   * Adds the time from `from` to the cursor on the thread of the task `lane` as `kind`, divided by the intervals inside
   * it. The parts belong to the task `row` and are caused by the task `owner`.
   */
  #within(lane: number, from: number, kind: PathKind, row: number, owner: number): void {
    const worker = this.#trace.tasks.worker[lane]!;
    this.#divided(lane, from, kind, (start, doing) => this.#parts.back(start, doing, row, worker, owner));
  }

  /**
   * Calls `add` for the intervals on the thread of the task `owner` and the `kind` between them, from the cursor to
   * `from`.
   */
  #divided(owner: number, from: number, kind: PathKind, add: (from: number, doing: PathKind) => void): void {
    const intervals = this.#intervals;
    const parts = this.#parts;
    const worker = this.#trace.tasks.worker[owner]!;
    if (worker >= 0) {
      const { spans, offsets } = intervals;
      const first = offsets[worker]!;
      let at = firstFrom(spans.rows, intervals.start, parts.cursor, first, offsets[worker + 1]!) - 1;
      for (; at >= first && intervals.start[spans.rows[at]!]! >= from && !parts.isDone; at--) {
        const interval = spans.rows[at]!;
        const inside = intervals.stop[interval]! <= parts.cursor && this.#isInside(owner, interval);
        if (!inside) continue;
        add(intervals.stop[interval]!, kind);
        add(intervals.start[interval]!, this.#kindOf(interval));
      }
    }
    add(from, kind);
  }

  /** Returns true for intervals on the task's thread that delayed the task or were part of it. */
  #isInside(row: number, interval: number): boolean {
    if (!this.#isOnThread(row, interval)) return false;
    const intervals = this.#intervals;
    const action = actionOf(intervals, interval);
    return action === 'gc' || action === 'profiler' || intervals.task[interval] === this.#trace.tasks.id[row];
  }

  /** Returns true for intervals on the task's thread, or of the whole worker. */
  #isOnThread(row: number, interval: number): boolean {
    const thread = this.#intervals.thread[interval];
    return thread === this.#trace.tasks.thread[row] || thread === NONE;
  }

  /**
   * Adds the time from the end of `source` to the cursor, in which its result was packed for the waiting task `row`.
   */
  packing(source: number, row: number): void {
    const stopped = this.#trace.tasks.stopped[source]!;
    if (stopped < this.#parts.cursor) this.#within(source, stopped, 'serialization', row, source);
  }

  /**
   * Adds the wait of a task from `since`, when it was ready, to the cursor. The walk continues at each time with the
   * work that ended last: another task on the thread, or an interval of the worker, e.g. a transfer of inputs. Without
   * such work, the task was on its way from the scheduler.
   */
  wait(row: number, since: number): void {
    const parts = this.#parts;
    const from = Math.max(since, parts.windowStart);
    const lane = this.#lanes.laneOf[row]!;
    const { worker, started } = this.#trace.tasks;
    const { start, stop } = this.#intervals;
    const left = this.#lanes.stop;
    /** Task that the thread ran at the cursor. */
    let next = row;
    while (parts.cursor > from) {
      const task = taskBefore(this.#trace, lane, parts.cursor);
      const taskEnd = task === NONE ? Number.NEGATIVE_INFINITY : Math.min(left[task]!, parts.cursor);
      const interval = this.#intervalBefore(row, parts.cursor, Math.max(taskEnd, from));
      const intervalEnd =
        interval === NONE ? Number.NEGATIVE_INFINITY : Math.min(stop[interval]!, parts.cursor);
      const unfinished = this.#unfinished.before(row, parts.cursor);
      const busy = Math.max(taskEnd, intervalEnd);
      const end = unfinished === undefined ? busy : Math.max(busy, Math.min(unfinished.stop, parts.cursor));
      this.#idle(row, Math.max(end, from), task, next);
      if (end <= from) return;
      if (unfinished !== undefined && end > busy)
        parts.back(
          Math.max(unfinished.start, busy, from),
          'run without result',
          unfinished.row,
          worker[unfinished.row]!,
        );
      else if (taskEnd >= intervalEnd) {
        this.#divided(task, Math.max(started[task]!, from), this.#computeKind(task), (time, doing) =>
          parts.wait(time, row, worker[row]!, task, doing),
        );
        next = task;
      } else this.#delayed(interval, Math.max(start[interval]!, from), row, task);
    }
  }

  /**
   * Adds the time from `from` to the cursor, in which an interval delayed `row` after the task `before` on its thread.
   */
  #delayed(interval: number, from: number, row: number, before: number): void {
    const worker = this.#trace.tasks.worker[row]!;
    const kind = this.#waitKindOf(interval, worker);
    if (kind === 'worker start') this.#parts.back(from, kind, row, worker, NONE);
    else if (kind === 'transfer') this.#received(from, row, worker);
    else if (kind === 'serialization')
      this.#within(row, from, kind, row, this.#isOf(interval, before) ? before : row);
    // Garbage collection is caused by the previous task.
    else this.#parts.back(from, kind, row, worker, kind === 'gc' && before !== NONE ? before : row);
  }

  /** Adds a transfer, with the disk access and garbage collection of its sender as separate parts. */
  #received(from: number, row: number, worker: number): void {
    const work = worker < 0 ? [] : this.#senders.during(worker, from, this.#parts.cursor);
    for (const { kind, start, stop } of work) {
      this.#parts.back(stop, 'transfer', row, worker);
      this.#parts.back(start, kind, row, worker);
    }
    this.#parts.back(from, 'transfer', row, worker);
  }

  #isOf(interval: number, row: number): boolean {
    return row !== NONE && this.#intervals.task[interval] === this.#trace.tasks.id[row];
  }

  /** Returns the kind of an interval. Garbage collection before the first task belongs to the start of the worker. */
  #waitKindOf(interval: number, worker: number): PathKind {
    const kind = this.#kindOf(interval);
    return kind === 'gc' && this.#intervals.stop[interval]! <= this.#begun(worker) ? 'worker start' : kind;
  }

  /**
   * Returns the interval of the task's thread or worker that began before `time` and ended last, if it ended after
   * `since`; otherwise -1.
   */
  #intervalBefore(row: number, time: number, since: number): number {
    const worker = this.#trace.tasks.worker[row]!;
    if (worker < 0) return NONE;
    const { spans, offsets, start, stop } = this.#intervals;
    const [from, to] = [offsets[worker]!, offsets[worker + 1]!];
    let [last, end] = [NONE, since];
    for (let at = firstFrom(spans.rows, start, time, from, to) - 1; at >= from; at--) {
      if (stop[spans.latest[at]!]! <= end) break;
      const interval = spans.rows[at]!;
      if (stop[interval]! > end && this.#isOnThread(row, interval)) [last, end] = [interval, stop[interval]!];
    }
    return last;
  }

  /**
   * Adds idle time of the thread. Until the next task was received, the task waited for the scheduler. From then on it
   * waited for the worker, which changed from the task `before` to the next one.
   */
  #idle(row: number, from: number, before: number, next: number): void {
    const { tasks } = this.#trace;
    const worker = tasks.worker[row]!;
    const received = tasks.received[next]!;
    // No task had run yet, so workers were starting.
    const begun = Math.min(this.#begun(worker), tasks.started[row]!);
    if (from < begun && this.#parts.cursor > from) {
      if (this.#parts.cursor > begun) this.#idle(row, begun, before, next);
      this.#starting(row, from, received);
      return;
    }
    if (Number.isNaN(received)) {
      this.#parts.back(from, 'unknown', row, worker);
      return;
    }
    // A thread whose first task was sent before any task had run loads modules until it receives this task.
    const dispatched = tasks.dispatched[next]!;
    const isStart = before === NONE && !this.#isDask && dispatched <= this.#begun(worker);
    const there = Math.max(from, isStart ? Math.min(dispatched, received) : received);
    if (before === NONE && !this.#isDask) this.#start(row, there, received);
    else {
      // Between two tasks, a Dask worker waits for its event loop, which may do anything.
      const owner = this.#isDask ? NONE : before;
      this.#unlessPaused(there, row, (time) =>
        this.#parts.wait(time, row, worker, owner, 'waiting for a worker'),
      );
    }
    this.#unlessPaused(from, row, (time) => {
      const restarted = this.#restartAfter(before === NONE ? from : tasks.stopped[before]!, worker);
      this.#parts.back(Math.max(time, restarted, dispatched), 'worker start', row, worker, NONE);
      this.#unsent(time, row);
    });
  }

  /**
   * Returns the time of the last restart of the worker between `from` and the cursor; Infinity if there is none. The run that
   * a restart ended is acknowledged after the restart.
   */
  #restartAfter(from: number, worker: number): number {
    const restarts = restartsOf(this.#trace).get(worker) ?? [];
    return restarts.findLast((time) => time >= from && time < this.#parts.cursor) ?? Number.POSITIVE_INFINITY;
  }

  /** Adds the time from `from` to the cursor, in which the task had not arrived: it may have had no slot. */
  #unsent(from: number, row: number): void {
    const parts = this.#parts;
    const worker = this.#trace.tasks.worker[row]!;
    for (const span of fullSpansBetween(this.#trace, this.#lanes.laneOf[row]!, from, parts.cursor)) {
      parts.back(Math.max(from, span.stop), 'waiting for the scheduler', row, worker);
      parts.wait(Math.max(from, span.start), row, worker, span.task, 'awaiting');
    }
    for (const lost of unnoticedLosses(this.#trace).toReversed()) {
      if (lost.start >= parts.cursor || lost.stop <= from) continue;
      parts.back(Math.max(from, lost.stop), 'waiting for the scheduler', row, worker);
      parts.wait(Math.max(from, lost.start), row, lost.row, NONE, 'waiting for a worker');
    }
    // A task arrives after its arguments.
    for (const span of receivingSpans(this.#trace, worker, from, parts.cursor)) {
      parts.back(Math.max(from, span.stop), 'waiting for the scheduler', row, worker);
      parts.back(Math.max(from, span.start), 'transfer', row, worker);
    }
    parts.back(from, 'waiting for the scheduler', row, worker);
  }

  /**
   * Adds the start of the worker. Before its creation, the task waited for the other workers, if they ran tasks at that
   * time, or until the program's thread had prepared the tasks and created a pool.
   */
  #starting(row: number, from: number, received: number): void {
    const worker = this.#trace.tasks.worker[row]!;
    const made = worker < 0 ? from : this.#trace.workers.started[worker]!;
    const there = Math.max(from, this.#firstStart);
    if (made > there && this.#othersRan(worker, there)) {
      this.#parts.back(made, 'worker start', row, worker, NONE);
      this.#replaced(row, there);
      this.#parts.wait(there, row, worker, NONE, 'waiting for a worker');
    }
    this.#start(row, Math.max(from, poolStart(this.#trace, worker)), received);
    this.#parts.back(from, 'waiting for the scheduler', row, worker);
  }

  /**
   * Adds the time from `from` to the cursor as the start of the worker, except the transfer with whose end the worker
   * `received` the task: it began to unpack the arguments when it had started.
   */
  #start(row: number, from: number, received: number): void {
    const worker = this.#trace.tasks.worker[row]!;
    const { cursor } = this.#parts;
    if (received < cursor) this.#parts.back(Math.max(from, received), 'worker start', row, worker, NONE);
    const [last] = receivingSpans(this.#trace, worker, from, this.#parts.cursor);
    if (last !== undefined && last.stop >= Math.min(received, cursor) - CLOCK)
      this.#parts.back(Math.max(from, last.start), 'transfer', row, worker);
    this.#parts.back(from, 'worker start', row, worker, NONE);
  }

  /**
   * Adds the time from `from` to the cursor in which lost workers had the place of the task's worker: waits for the tasks
   * that they ran, and for their replacement between and after these tasks.
   */
  #replaced(row: number, from: number): void {
    const parts = this.#parts;
    const replaced = replacedWorkers(this.#trace);
    const { worker: workerOf, started } = this.#trace.tasks;
    for (let gone = replaced[workerOf[row]!] ?? NONE; gone !== NONE; gone = replaced[gone]!) {
      const lane = this.#lanes.worker.indexOf(gone);
      let task = lane < 0 ? NONE : taskBefore(this.#trace, lane, parts.cursor);
      while (task !== NONE && parts.cursor > from) {
        const end = Math.min(this.#lanes.stop[task]!, parts.cursor);
        parts.wait(Math.max(end, from), row, gone, NONE, 'waiting for a worker');
        parts.wait(Math.max(started[task]!, from), row, gone, task, this.#computeKind(task));
        task = taskBefore(this.#trace, lane, parts.cursor);
      }
      const made = this.#trace.workers.started[gone]!;
      parts.wait(Math.max(made, from), row, gone, NONE, 'waiting for a worker');
    }
  }

  /** Returns true if another worker had started a task before `time` and ran tasks after it. */
  #othersRan(worker: number, time: number): boolean {
    const { count, worker: workerOf, spans, offsets, stop } = this.#lanes;
    const { started } = this.#trace.tasks;
    for (let lane = 0; lane < count; lane++) {
      const [first, end] = [offsets[lane]!, offsets[lane + 1]!];
      if (workerOf[lane] === worker || started[spans.rows[first]!]! > time) continue;
      if (stop[spans.latest[end - 1]!]! > time) return true;
    }
    return false;
  }

  /** Calls `add` for the time from `from` to the cursor, and adds pauses of the worker as separate parts. */
  #unlessPaused(from: number, row: number, add: (from: number) => void): void {
    const worker = this.#trace.tasks.worker[row]!;
    const pauses = pausesOf(this.#trace).get(worker) ?? [];
    for (let at = pauses.length - 1; at >= 0 && pauses[at]!.stop > from; at--) {
      const { start, stop } = pauses[at]!;
      if (start >= this.#parts.cursor) continue;
      add(Math.max(from, stop));
      this.#parts.back(Math.max(from, start), 'paused', row, worker, NONE);
    }
    add(from);
  }

  /** Returns the time until which the worker may have been starting. */
  #begun(worker: number): number {
    return worker < 0 ? this.#firstStart : firstStarts(this.#trace)[worker]!;
  }

  #kindOf(interval: number): PathKind {
    const action = actionOf(this.#intervals, interval);
    switch (action) {
      case 'compute':
      case 'transfer':
      case 'gc':
      case 'profiler':
        return action;
      case 'await':
        return 'awaiting';
      // Results are compressed before they are written to disk.
      case 'compress':
      case 'decompress':
      case 'disk-read':
      case 'disk-write':
        return 'disk';
      default:
        return 'serialization';
    }
  }
}
