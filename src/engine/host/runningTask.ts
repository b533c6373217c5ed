// The task that an isolate runs, as its host sees it in polls. Enforces the time limit and ends the isolate of a
// cancelled task.
import { getOrMake } from '../../base/lookUps.js';
import type { TaskQuestion } from '../../protocol/questions.js';
import type { GracePeriod, GraceStart } from '../pool/gracePeriod.js';
import type { ThreadIsolate } from '../pool/threadIsolate.js';
import type { HostEvents, HostRun, RunTask } from './hostTypes.js';

export class RunningTask {
  readonly #events: Pick<HostEvents, 'running' | 'timedOut'>;
  readonly #end: () => void;
  #task: RunTask | undefined;
  /** Time of the first poll that saw the task, from performance.now(). */
  #since = 0;
  /** Cancelled tasks that have begun, perhaps unseen: run → id → start of the grace period. */
  readonly #cancelled = new Map<number, Map<number, GraceStart>>();
  /** Seceded tasks with a time limit, and the time of their secession: run → id → limit. */
  readonly #seceded = new Map<number, Map<number, { readonly since: number; readonly timeout: number }>>();
  /** Tasks with a time limit that have ended, by run. The message that such a task secedes may arrive later. */
  readonly #ended = new Map<number, Set<number>>();
  #timedOut = false;

  /** @param end ends the isolate, also while a task runs */
  constructor(events: Pick<HostEvents, 'running' | 'timedOut'>, end: () => void) {
    this.#events = events;
    this.#end = end;
  }

  get task(): RunTask | undefined {
    return this.#task;
  }

  /** Reads the state of the isolate. Called every few milliseconds. */
  poll(
    runs: readonly { readonly spec: Pick<HostRun, 'run' | 'timeout'> }[],
    isolate: Pick<ThreadIsolate, 'running' | 'runningSince' | 'grace'>,
  ): void {
    const now = performance.now();
    if (this.#seceded.size > 0 && this.#endOverdue(now)) return;
    let found: { readonly spec: Pick<HostRun, 'run' | 'timeout'>; readonly id: number } | undefined;
    for (const { spec } of runs) {
      const id = isolate.running(spec.run);
      if (id >= 0) found = { spec, id };
    }
    if (found?.id !== this.#task?.id || found?.spec.run !== this.#task?.run) {
      this.#task = found === undefined ? undefined : { run: found.spec.run, id: found.id };
      this.#since = now;
      this.#timedOut = false;
      this.#events.running(this.#task, found === undefined ? 0 : isolate.runningSince(found.spec.run));
    }
    if (this.#task === undefined || found === undefined) return;
    const { timeout } = found.spec;
    const seconds = (now - this.#since) / 1000;
    if (timeout > 0 && seconds > timeout && !this.#timedOut) {
      this.#timedOut = true;
      this.#events.timedOut(this.#task, seconds);
      this.#end();
      return;
    }
    this.#endCancelled(isolate.grace);
  }

  /** A task that leaves its slot asks the scheduler's process. Its time limit, in seconds, continues; 0: none. */
  asked({ kind, run, id }: TaskQuestion, timeout = 0): void {
    if (kind !== 'secede' || timeout === 0 || this.#ended.get(run)?.has(id) === true) return;
    const since = this.#task?.run === run && this.#task.id === id ? this.#since : performance.now();
    const ids = this.#seceded.get(run) ?? new Map();
    this.#seceded.set(run, ids.set(id, { since, timeout }));
  }

  /** Ends the isolate if a seceded task has exceeded its time limit. */
  #endOverdue(now: number): boolean {
    for (const [run, ids] of this.#seceded)
      for (const [id, { since, timeout }] of ids) {
        const seconds = (now - since) / 1000;
        if (seconds <= timeout || this.#timedOut) continue;
        this.#timedOut = true;
        this.#events.timedOut({ run, id }, seconds);
        this.#end();
        return true;
      }
    return false;
  }

  /** Whether the task was cancelled. Such a task may cause the end of its isolate. */
  isCancelled({ run, id }: RunTask): boolean {
    return this.#cancelled.get(run)?.has(id) === true;
  }

  /** Whether the task has exceeded its time limit, so that its isolate ends. */
  get isTimedOut(): boolean {
    return this.#timedOut;
  }

  /** Starts the grace period of cancelled tasks that have begun. */
  cancel(run: number, begun: readonly number[], grace: GracePeriod): void {
    if (begun.length === 0) return;
    const seceded = this.#seceded.get(run);
    if (seceded !== undefined) for (const id of begun) seceded.delete(id);
    const ids = this.#cancelled.get(run) ?? new Map<number, GraceStart>();
    this.#cancelled.set(run, ids);
    const since = grace.begin();
    for (const id of begun) ids.set(id, since);
  }

  /** Forgets an earlier cancellation of tasks that are sent again. */
  dispatched(run: number, ids: Int32Array): void {
    this.#forgetCancelled(run, ids, ids.length);
    const ended = this.#ended.get(run);
    if (ended !== undefined) for (const id of ids) ended.delete(id);
  }

  /** @param timeout time limit of the tasks in seconds; 0: none */
  finished(run: number, ids: Int32Array, count: number, timeout: number): void {
    if (timeout > 0) {
      const ended = getOrMake(this.#ended, run, () => new Set<number>());
      for (let index = 0; index < count; index++) ended.add(ids[index]!);
    }
    const seceded = this.#seceded.get(run);
    if (seceded !== undefined) for (let index = 0; index < count; index++) seceded.delete(ids[index]!);
    this.#forgetCancelled(run, ids, count);
    if (this.#task?.run !== run) return;
    if (ids.subarray(0, count).includes(this.#task.id)) this.#task = undefined;
  }

  closed(run: number): void {
    this.#cancelled.delete(run);
    this.#seceded.delete(run);
    this.#ended.delete(run);
  }

  clear(): void {
    this.#task = undefined;
    this.#cancelled.clear();
    this.#seceded.clear();
    this.#timedOut = false;
  }

  #forgetCancelled(run: number, ids: Int32Array, count: number): void {
    const cancelled = this.#cancelled.get(run);
    if (cancelled !== undefined) for (let index = 0; index < count; index++) cancelled.delete(ids[index]!);
  }

  #endCancelled(grace: GracePeriod): void {
    const task = this.#task;
    const since = task && this.#cancelled.get(task.run)?.get(task.id);
    if (since !== undefined && grace.isOver(since)) this.#end();
  }
}
