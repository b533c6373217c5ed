// Runs that the host has closed and that still have tasks in the thread. If the tasks do not end within the grace period,
// the thread is terminated; for tasks that await outside the slot, only if no other run needs it.
import type { CompletionLog } from '../../protocol/completionLog.js';
import type { ExecutingTask } from '../../protocol/workerMessages.js';
import type { GracePeriod, GraceStart } from './gracePeriod.js';
import { CLOSE_GRACE_MS } from './isolate.js';
import { executingIn } from './threadRun.js';

interface ClosingRun {
  readonly log: CompletionLog;
  readonly timer: NodeJS.Timeout;
  /** Undefined if the run had no task at the last check. */
  readonly since: GraceStart | undefined;
  isReleased: boolean;
}

export class ClosingRuns {
  readonly #runs = new Map<number, ClosingRun>();
  readonly #grace: GracePeriod;
  readonly #isNeeded: () => boolean;
  readonly #terminate: () => void;

  /**
   * @param isNeeded whether others use the thread, and its event loop turns or one of their tasks runs
   * @param terminate ends the thread
   */
  constructor(grace: GracePeriod, isNeeded: () => boolean, terminate: () => void) {
    this.#grace = grace;
    this.#isNeeded = isNeeded;
    this.#terminate = terminate;
  }

  /** Reads the thread's use of CPU only while it has a task, because that takes longer than closing a short run. */
  add(run: number, log: CompletionLog, known?: GraceStart, isReleased = false): void {
    const since = hasTasks(log) ? (known ?? this.#grace.begin()) : undefined;
    const timer = setTimeout(() => this.#check(run), CLOSE_GRACE_MS);
    timer.unref();
    this.#runs.set(run, { log, timer, since, isReleased });
  }

  /** Called when the thread has closed the run. The grace period continues for asynchronous tasks. */
  closed(run: number): void {
    const closing = this.#runs.get(run);
    if (closing === undefined) return;
    closing.isReleased = true;
    if (!hasTasks(closing.log)) this.#forget(run);
  }

  /** Returns the running task of a closed run, if any. */
  executing(run: number): ExecutingTask | undefined {
    return executingIn(run, this.#runs.get(run)?.log);
  }

  clear(): void {
    for (const run of [...this.#runs.keys()]) this.#forget(run);
  }

  #check(run: number): void {
    // After a pause of this thread the timer fires before the waiting answer is read, so check after the answer.
    setImmediate(() => {
      const closing = this.#runs.get(run);
      if (closing === undefined) return;
      const { log, since, isReleased } = closing;
      const mayEnd = log.running !== -1 || (log.away > 0 && !this.#isNeeded());
      if (mayEnd && since !== undefined && this.#grace.isOver(since)) this.#terminate();
      else if (isReleased && !hasTasks(log)) this.#forget(run);
      // The thread runs a task of another run, and its answer for this one comes later; or it waits for a core.
      else this.add(run, log, since, isReleased);
    }).unref();
  }

  #forget(run: number): void {
    clearTimeout(this.#runs.get(run)?.timer);
    this.#runs.delete(run);
  }
}

function hasTasks(log: CompletionLog): boolean {
  return log.running !== -1 || log.away > 0;
}
