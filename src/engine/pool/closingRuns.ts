// Runs that the host has closed and the thread has not, because it may be running one of their tasks. If the task does
// not end within the grace period, the thread is terminated.
import type { CompletionLog } from '../../protocol/completionLog.js';
import type { GracePeriod, GraceStart } from './gracePeriod.js';
import { CLOSE_GRACE_MS } from './isolate.js';
import { type ExecutingTask, executingOf } from './threadRun.js';

interface ClosingRun {
  readonly log: CompletionLog;
  readonly timer: NodeJS.Timeout;
  /** Undefined if no task of the run ran at the last check. */
  readonly since: GraceStart | undefined;
  isReleased: boolean;
}

export class ClosingRuns {
  readonly #runs = new Map<number, ClosingRun>();
  readonly #grace: GracePeriod;
  readonly #terminate: () => void;

  /** @param terminate ends the thread */
  constructor(grace: GracePeriod, terminate: () => void) {
    this.#grace = grace;
    this.#terminate = terminate;
  }

  /** Reads the thread's use of CPU only while a task runs, because that takes longer than closing a short run. */
  add(run: number, log: CompletionLog, known?: GraceStart, isReleased = false): void {
    const since = log.running === -1 ? undefined : (known ?? this.#grace.begin());
    const timer = setTimeout(() => this.#check(run), CLOSE_GRACE_MS);
    timer.unref();
    this.#runs.set(run, { log, timer, since, isReleased });
  }

  /** Called when the thread has closed the run. The grace period continues for an asynchronous task that still runs. */
  closed(run: number): void {
    const closing = this.#runs.get(run);
    if (closing === undefined) return;
    closing.isReleased = true;
    if (closing.log.running === -1) this.#forget(run);
  }

  /** The running task of a closed run. */
  get executing(): ExecutingTask | undefined {
    return executingOf(this.#runs);
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
      if (log.running !== -1 && since !== undefined && this.#grace.isOver(since)) this.#terminate();
      else if (log.running === -1 && isReleased) this.#forget(run);
      // The thread runs a task of another run, and its answer for this one comes later; or it waits for a core.
      else this.add(run, log, since, isReleased);
    }).unref();
  }

  #forget(run: number): void {
    clearTimeout(this.#runs.get(run)?.timer);
    this.#runs.delete(run);
  }
}
