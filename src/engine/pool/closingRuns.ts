// Runs of a thread that its host has closed and the thread has not: it may be in the middle of one of their tasks. A task
// that does not end within the grace period takes its thread along.
import type { CompletionLog } from '../../protocol/completionLog.js';
import type { Executing } from '../metrics/unmeasuredTime.js';
import type { GracePeriod, GraceStart } from './gracePeriod.js';
import { CLOSE_GRACE_MS } from './isolate.js';

interface ClosingRun {
  readonly log: CompletionLog;
  readonly timer: NodeJS.Timeout;
  readonly since: GraceStart;
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

  add(run: number, log: CompletionLog, since = this.#grace.begin(), isReleased = false): void {
    const timer = setTimeout(() => this.#check(run), CLOSE_GRACE_MS);
    timer.unref();
    this.#runs.set(run, { log, timer, since, isReleased });
  }

  /** The thread has closed the run. A task that it awaits still runs, and the grace period is for that task, too. */
  closed(run: number): void {
    const closing = this.#runs.get(run);
    if (closing === undefined) return;
    closing.isReleased = true;
    if (closing.log.running === -1) this.#forget(run);
  }

  /** The task of a closed run that still runs. */
  get executing(): Executing | undefined {
    for (const [run, { log }] of this.#runs)
      if (log.running >= 0) return { run, id: log.running, since: log.runningSince };
    return undefined;
  }

  clear(): void {
    for (const run of [...this.#runs.keys()]) this.#forget(run);
  }

  #check(run: number): void {
    // After this thread was blocked, the timer comes before the answer that is waiting: look once more after it.
    setImmediate(() => {
      const closing = this.#runs.get(run);
      if (closing === undefined) return;
      const { log, since, isReleased } = closing;
      if (log.running !== -1 && this.#grace.isOver(since)) this.#terminate();
      else if (log.running === -1 && isReleased) this.#forget(run);
      // It computes for another run, and what it says about this one can wait; or it waits for a core.
      else this.add(run, log, since, isReleased);
    }).unref();
  }

  #forget(run: number): void {
    clearTimeout(this.#runs.get(run)?.timer);
    this.#runs.delete(run);
  }
}
