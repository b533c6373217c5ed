// Times the work beside tasks in a run whose tasks are not measured: results that are packed for other isolates, or unpacked.
// Meanwhile the isolate runs no task.
import type { UnmeasuredWork } from '../../protocol/isolateMessages.js';

/** Seconds from which a copy is reported. */
const SLOW_COPY = 5e-3;

/** Runs work of the isolate for the task `id`, and records its time. */
export interface WorkTimer {
  beside<T>(id: number, action: 'serialize' | 'deserialize', work: () => T, nbytes: (value: T) => number): T;
}

/** Records nothing. */
export const UNTIMED: WorkTimer = { beside: (_id, _action, work) => work() };

/**
 * @param clock returns seconds since the epoch
 * @param report called with each copy that took long
 */
export function slowCopies(
  run: number,
  clock: () => number,
  report: (work: UnmeasuredWork) => void,
): WorkTimer {
  return {
    beside: (id, action, work, nbytes) => {
      const start = clock();
      const value = work();
      const stop = clock();
      if (stop - start >= SLOW_COPY) report({ action, start, stop, run, id, nbytes: nbytes(value) });
      return value;
    },
  };
}
