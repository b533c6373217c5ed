// Interrupts or terminates the thread of an isolate from outside, also while the thread runs a task.
import { NATIVE_CELL } from '../../protocol/mailbox.js';
import { whenMayEnd } from '../../resources/nativeGuard.js';
import { inspectThread, whenThreadIsQuiet } from '../profiler/threadInspector.js';
import { INTERRUPT_EXPRESSION } from '../worker/inspectorHooks.js';

/** Time limit for finding the thread, in milliseconds. */
const PATIENCE_MS = 1000;

/**
 * Makes the thread with this unique name run its interrupt hook, so that it sends withheld results while a task runs.
 * This is for the rare case of a function that was always short and now is not, with results of other tasks unsent. The
 * first request takes ~8 ms, later ones less than 1 ms. Returns at once and never throws.
 */
export function interruptThread(name: string): void {
  const ask = { expression: INTERRUPT_EXPRESSION };
  inspectThread(name, (thread) => thread.send('Runtime.evaluate', ask), PATIENCE_MS);
}

/** Time for which a termination waits for an inspector's request in progress, in milliseconds. */
const QUIET_PATIENCE_MS = 50;
/** Time until a termination is repeated, in milliseconds. It doubles each time, up to LAST_STOP_MS. */
const FIRST_STOP_MS = 50;
const LAST_STOP_MS = 3200;

/**
 * Terminates the thread, but not while it loads a native addon. A concurrent request of the inspector swallows a
 * termination, so the termination is repeated until the thread has ended.
 */
export function stopThread(
  name: string,
  mailbox: Int32Array,
  terminate: () => void,
  hasExited: () => boolean,
): void {
  const stop = (waitMs: number): void => {
    if (hasExited()) return;
    whenMayEnd({ cells: mailbox, index: NATIVE_CELL }, () => {
      terminate();
      setTimeout(() => stop(Math.min(2 * waitMs, LAST_STOP_MS)), waitMs).unref();
    });
  };
  whenThreadIsQuiet(name, () => stop(FIRST_STOP_MS), QUIET_PATIENCE_MS);
}
