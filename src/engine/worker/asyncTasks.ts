// The asynchronous tasks of an isolate: one in the slot of the thread, and others that have left it and may end at any time.
import type { TaskRun } from '../../protocol/taskRun.js';
import type { AsyncTask, AsyncTaskParts } from './asyncTask.js';
import type { IsolateRun } from './isolateRun.js';
import type { MeteredTask } from './meterContext.js';
import { taskContext } from './taskContext.js';
import { TaskMeter } from './taskMeter.js';
import type { Outcome } from './taskMetering.js';

export interface AsyncTasksOptions {
  readonly clock: () => number;
  isOpen(parts: AsyncTaskParts): boolean;
  /** Returns the record of a task that ran from `start` to `stop`. It is valid until the next task ends. */
  ended(task: AsyncTask, start: number, stop: number, outcome: Outcome): TaskRun;
  /** Reports a task that has left its slot to the scheduler. */
  left(task: AsyncTask): void;
  /** Sends the result or error of a task that has ended outside its slot. */
  endedOutside(parts: AsyncTaskParts): void;
}

export class AsyncTasks {
  readonly #options: AsyncTasksOptions;
  #inSlot: AsyncTask | undefined;
  /** Number of tasks of open runs that have left the slot and not ended. */
  away = 0;

  constructor(options: AsyncTasksOptions) {
    this.#options = options;
  }

  /** Resolves when the task has ended, or has left the slot. Never rejects. */
  async run(task: AsyncTask): Promise<void> {
    const { run } = task.parts;
    this.#inSlot = task;
    await new Promise<void>((resume) => {
      task.onLeft = resume;
      void this.#finish(task).then(resume);
      const leaves = task.parts.meter?.hasSeceded === true || this.#isRoomBeside(task);
      if (run.concurrentTasks > 1) task.goAway(this.#options.clock());
      if (leaves) this.#leave(task);
    });
  }

  /** The code of a task asks to leave the slot. While it has not awaited anything, the slot has no other use. */
  secede(task: MeteredTask): void {
    if (!(task instanceof TaskMeter)) return;
    task.hasSeceded = true;
    if (this.#inSlot?.parts.meter === task) this.#leave(this.#inSlot);
  }

  /** Waits for the end of an asynchronous task, and records it. Never rejects. */
  async #finish(task: AsyncTask): Promise<void> {
    const { parts } = task;
    const { promise, run } = parts;
    let value: unknown;
    let thrown: { readonly error: unknown } | undefined;
    try {
      value = await promise;
    } catch (error) {
      thrown = { error };
    }
    taskContext.running--;
    // From now on it can no longer leave the slot.
    if (this.#inSlot === task) this.#inSlot = undefined;
    const stop = this.#options.clock();
    const start = task.settled(stop, thrown !== undefined);
    const isOver = (): boolean => task.isOutdated || !this.#options.isOpen(parts);
    if (task.hasLeft) await task.untilRoom(isOver);
    const ran = this.#options.ended(task, start, stop, thrown === undefined ? 'done' : 'failed');
    if (task.hasLeft) {
      run.log.countAway(-1);
      if (this.#options.isOpen(parts)) this.#ended(1);
      if (isOver()) return;
    }
    if (thrown === undefined) run.complete(value, ran);
    else run.fail(thrown.error, ran);
    if (task.hasLeft) this.#options.endedOutside(parts);
  }

  /** The run is closed. Its tasks that await do not count any more; they may never end. */
  closed(run: IsolateRun): void {
    this.#ended(run.log.away);
  }

  #ended(count: number): void {
    this.away -= count;
    if (this.#inSlot !== undefined && this.#isRoomBeside(this.#inSlot)) this.#leave(this.#inSlot);
  }

  /** Returns whether another task may run beside this one, which awaits. */
  #isRoomBeside({ parts }: AsyncTask): boolean {
    return this.away + 1 < parts.run.concurrentTasks && this.#options.isOpen(parts);
  }

  #leave(task: AsyncTask): void {
    if (task.hasLeft) return;
    task.leave(this.#options.clock());
    if (this.#options.isOpen(task.parts)) this.away++;
    task.parts.run.log.countAway(1);
    this.#inSlot = undefined;
    this.#options.left(task);
  }
}
