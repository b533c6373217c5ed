// Ends the thread of an isolate, whatever the thread does at that moment.
import { NATIVE_CELL } from '../../protocol/isolateMessages.js';
import { whenMayEnd } from '../../resources/nativeGuard.js';
import { whenThreadIsQuiet } from '../profiler/threadInspector.js';

/** How long a termination waits for an inspector's request that is under way, in milliseconds. */
const QUIET_PATIENCE_MS = 50;
/** A termination is repeated after this time, then after twice as long, and so on up to the last, in milliseconds. */
const FIRST_STOP_MS = 50;
const LAST_STOP_MS = 3200;

export interface StoppedThread {
  readonly name: string;
  readonly mailbox: Int32Array;
  terminate(): Promise<unknown>;
  hasExited(): boolean;
}

export function stopThread(thread: StoppedThread): void {
  whenThreadIsQuiet(thread.name, () => stop(thread, FIRST_STOP_MS), QUIET_PATIENCE_MS);
}

/**
 * Not while the thread loads a native addon. An inspector's request that runs at that moment swallows the termination, so
 * it is repeated until the thread has ended.
 */
function stop(thread: StoppedThread, waitMs: number): void {
  if (thread.hasExited()) return;
  whenMayEnd({ cells: thread.mailbox, index: NATIVE_CELL }, () => {
    void thread.terminate();
    setTimeout(() => stop(thread, Math.min(2 * waitMs, LAST_STOP_MS)), waitMs).unref();
  });
}
