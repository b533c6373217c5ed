// The task that an isolate runs, as its host sees it in polls. Enforces the time limit and ends the isolate of a
// cancelled task.
import { getOrMake } from '../../base/lookUps.js';
import type { TaskQuestion } from '../../protocol/questions.js';
import {
  type EndedTasks,
  type ExecutingTask,
  hasEnded,
  isSameRun,
  type RunTask,
  type WorkerRun,
} from '../../protocol/workerMessages.js';
import type { GracePeriod, GraceStart } from '../pool/gracePeriod.js';
import type { ThreadIsolate } from '../pool/threadIsolate.js';
import type { HostEvents } from './hostTypes.js';

/** Time limit of a seceded task, in seconds since `since` in milliseconds. */
interface SecededLimit {
  readonly batch: number;
  readonly since: number;
  readonly timeout: number;
}

interface CancelledRun {
  readonly batch: number;
  readonly since: GraceStart;
}

export class RunningTask {
  readonly #events: Pick<HostEvents, 'running' | 'timedOut'>;
  readonly #end: () => void;
  /** The task that the last poll has seen, until its end is reported. */
  task: ExecutingTask | undefined;
  /** Time of the first poll that saw the task, from performance.now(). */
  #since = 0;
  /** Cancelled tasks that have begun, perhaps unseen: run → id → the cancelled run. */
  readonly #cancelled = new Map<number, Map<number, CancelledRun>>();
  /** Seceded tasks with a time limit: run → id → limit. */
  readonly #seceded = new Map<number, Map<number, SecededLimit>>();
  /**
   * Batches of tasks with a time limit that have ended: run → id → batch. The message that such a task secedes may arrive
   * later.
   */
  readonly #ended = new Map<number, Map<number, number>>();
  /** Whether the task has exceeded its time limit, so that its isolate ends. */
  isTimedOut = false;

  /** @param end ends the isolate, also while a task runs */
  constructor(events: Pick<HostEvents, 'running' | 'timedOut'>, end: () => void) {
    this.#events = events;
    this.#end = end;
  }

  /** Reads the state of the isolate. Called every few milliseconds. */
  poll(
    isolate: Pick<ThreadIsolate, 'executing' | 'grace'>,
    specOf: (run: number) => Pick<WorkerRun, 'timeout'> | undefined,
  ): void {
    const now = performance.now();
    if (this.#seceded.size > 0 && this.#endOverdue(now)) return;
    const { executing } = isolate;
    const spec = executing && specOf(executing.run);
    const found = spec && executing;
    if (!isSameRun(found, this.task)) {
      this.task = found;
      this.#since = now;
      this.isTimedOut = false;
      this.#events.running?.(found);
    }
    if (this.task === undefined || spec === undefined) return;
    const { timeout } = spec;
    const seconds = (now - this.#since) / 1000;
    if (timeout > 0 && seconds > timeout && !this.isTimedOut) {
      this.isTimedOut = true;
      this.#events.timedOut(this.task, seconds);
      this.#end();
      return;
    }
    this.#endCancelled(isolate.grace);
  }

  /** A task that leaves its slot asks the scheduler's process. Its time limit, in seconds, continues; 0: none. */
  asked(question: TaskQuestion, timeout = 0): void {
    if (!isSecession(question) || timeout === 0) return;
    const { run, id } = question;
    const { batch } = question.question;
    if (this.#ended.get(run)?.get(id) === batch) return;
    const since = isSameRun(this.task, { run, id, batch }) ? this.#since : performance.now();
    getOrMake(this.#seceded, run, () => new Map<number, SecededLimit>()).set(id, { batch, since, timeout });
  }

  /** Ends the isolate if a seceded task has exceeded its time limit. */
  #endOverdue(now: number): boolean {
    for (const [run, ids] of this.#seceded)
      for (const [id, { batch, since, timeout }] of ids) {
        const seconds = (now - since) / 1000;
        if (seconds <= timeout || this.isTimedOut) continue;
        this.isTimedOut = true;
        this.#events.timedOut({ run, id, batch }, seconds);
        this.#end();
        return true;
      }
    return false;
  }

  /** Whether this run of the task was cancelled. Such a run may cause the end of its isolate. */
  isCancelled({ run, id, batch }: RunTask): boolean {
    return this.#cancelled.get(run)?.get(id)?.batch === batch;
  }

  /** Starts the grace period of cancelled tasks that have begun. */
  cancel(run: number, begun: readonly Omit<RunTask, 'run'>[], grace: GracePeriod): void {
    if (begun.length === 0) return;
    const seceded = this.#seceded.get(run);
    const cancelled = getOrMake(this.#cancelled, run, () => new Map<number, CancelledRun>());
    const since = grace.begin();
    for (const { id, batch } of begun) {
      seceded?.delete(id);
      cancelled.set(id, { batch, since });
    }
  }

  /** @param timeout time limit of the tasks in seconds; 0: none */
  finished(run: number, columns: EndedTasks, timeout: number): void {
    const { ids, batches, count } = columns;
    if (timeout > 0) {
      const ended = getOrMake(this.#ended, run, () => new Map<number, number>());
      for (let index = 0; index < count; index++) ended.set(ids[index]!, batches[index]!);
    }
    for (const tasks of [this.#seceded.get(run), this.#cancelled.get(run)])
      if (tasks !== undefined) for (let index = 0; index < count; index++) tasks.delete(ids[index]!);
    if (hasEnded(this.task, run, columns)) this.task = undefined;
  }

  closed(run: number): void {
    this.#cancelled.delete(run);
    this.#seceded.delete(run);
    this.#ended.delete(run);
  }

  clear(): void {
    this.task = undefined;
    this.#cancelled.clear();
    this.#seceded.clear();
    this.isTimedOut = false;
  }

  #endCancelled(grace: GracePeriod): void {
    const task = this.task;
    const cancelled = task && this.#cancelled.get(task.run)?.get(task.id);
    if (cancelled !== undefined && cancelled.batch === task?.batch && grace.isOver(cancelled.since))
      this.#end();
  }
}

function isSecession(question: TaskQuestion): question is TaskQuestion<'secede'> {
  return question.kind === 'secede';
}
