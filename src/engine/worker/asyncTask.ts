// An asynchronous task of an isolate, from its first `await` to its end. It holds the slot of its thread, or has seceded:
// then other tasks run while it waits, and it ends in any order.
import type { Batch } from '../../protocol/isolateMessages.js';
import { STAYED, type TaskAway } from '../../protocol/taskRun.js';
import type { IsolateRun } from './isolateRun.js';
import { PythonCall } from './pythonCall.js';
import { idleSeconds } from './secededTime.js';
import { taskHook } from './taskHook.js';
import type { TaskMeter } from './taskMeter.js';

/** Milliseconds between two attempts to report the end of a seceded task while the log is full. */
const FULL_MS = 1;

/** Progress of a batch, which asynchronous tasks interrupt. */
export interface BatchProgress {
  readonly batch: Batch;
  readonly run: IsolateRun;
  next: number;
  /** Time at which the isolate received the batch, in seconds since the epoch. */
  readonly received: number;
  /** Reading of `CoreWaits` at the start of the current task. */
  queued: number;
}

export interface AsyncTaskParts extends Readonly<Omit<BatchProgress, 'next'>> {
  readonly id: number;
  readonly start: number;
  readonly meter: TaskMeter | undefined;
  readonly promise: PromiseLike<unknown>;
}

export class AsyncTask {
  readonly parts: AsyncTaskParts;
  /** The task if it is a call of Python. */
  readonly #call: PythonCall | undefined;
  readonly #begun: number;
  readonly #idle = idleSeconds();
  readonly #cpu: number;
  /** Called when the task leaves its slot. */
  onLeft: () => void = () => undefined;
  hasLeft = false;
  #left = Number.NaN;

  constructor(parts: AsyncTaskParts, now: number) {
    const { promise, run, id } = parts;
    this.parts = parts;
    this.#begun = now;
    this.#cpu = run.metered?.cpuSeconds() ?? 0;
    this.#call = promise instanceof PythonCall ? promise : undefined;
    this.#call?.begin(run.labelOf(id));
  }

  /** Whether other tasks may use the thread, so that waits of the task are no work, even if none of them runs. */
  get isAway(): boolean {
    return !Number.isNaN(this.#left);
  }

  /** Lets other tasks use the thread from the time `now` on. */
  goAway(now: number): void {
    if (this.isAway) return;
    const { run, id, start, meter } = this.parts;
    this.#left = now;
    this.#awaited(now);
    if (meter !== undefined) meter.hasSeceded = true;
    run.metered?.secede(meter, id, start, now);
  }

  /** Leaves the slot at the time `now`. The dependents of the task are skipped here until its end. */
  leave(now: number): void {
    this.goAway(now);
    this.hasLeft = true;
    const { run, id } = this.parts;
    run.secede(id);
    taskHook.current?.seceded?.();
    this.onLeft();
  }

  /** Returns the times of a task that ended at `stop`, if other tasks could use the thread meanwhile. */
  away(stop: number): TaskAway {
    if (!this.isAway) return STAYED;
    // Without a meter it is not known when the task used the thread.
    return (
      this.parts.meter?.away?.end(stop) ?? { seceded: this.#left, resumed: stop, waited: stop - this.#left }
    );
  }

  /** Records that the promise has settled at the time `stop`. Returns the start of the task. */
  settled(stop: number, failed: boolean): number {
    const { run, id, start } = this.parts;
    const hook = taskHook.current;
    if (this.hasLeft) hook?.secededEnded?.(run.labelOf(id), failed);
    else {
      if (this.#call === undefined && !this.isAway) this.#awaited(stop);
      hook?.after(failed);
    }
    // A call of Python may have waited for a thread of Dask before.
    const seconds = this.#call?.secondsSinceStart ?? Number.NaN;
    return Number.isNaN(seconds) ? start : Math.max(start, stop - seconds);
  }

  /**
   * Resolves when the log has room for the end of a seceded task, which the scheduler's limit on outstanding tasks does
   * not count. Returns at once if `isOver` says that the end is not reported.
   */
  async untilRoom(isOver: () => boolean): Promise<void> {
    while (!isOver() && !this.parts.run.hasRoom)
      await new Promise((resolve) => {
        setTimeout(resolve, FULL_MS);
      });
  }

  /** Whether this run of the task is not the last one: a later batch offers the task again or has started it. */
  get isOutdated(): boolean {
    const { run, id, batch } = this.parts;
    const claim = Atomics.load(run.claims, id);
    return claim !== 0 && claim !== -batch.batch;
  }

  #awaited(now: number): void {
    const { run, id } = this.parts;
    const { metered } = run;
    metered?.awaited(id, this.#begun, now, idleSeconds() - this.#idle, metered.cpuSeconds() - this.#cpu);
  }
}
