// What a host does to the thread of an isolate from outside, whatever the thread does at that moment: interrupts it, or ends it.
import { NATIVE_CELL } from '../../protocol/isolateMessages.js';
import { whenMayEnd } from '../../resources/nativeGuard.js';
import { inspectThread, whenThreadIsQuiet } from '../profiler/threadInspector.js';
import { INTERRUPT } from '../worker/interruptHook.js';

/** After this time a thread that has not been found is not asked any more, in milliseconds. */
const PATIENCE_MS = 1000;
const EXPRESSION = `globalThis[Symbol.for('${INTERRUPT}')]?.()`;

/**
 * Makes the thread of this name, which must be unique, run its interrupt hook, so that a thread that is busy with a task sends
 * what it holds back, in the middle of the task. This is for the rare case: a function that had always been short and now is
 * not, with results of other tasks unsent. The first request takes ~8 ms, later ones less than 1. Returns at once and never
 * throws.
 */
export function interruptThread(name: string): void {
  inspectThread(name, (thread) => thread.send('Runtime.evaluate', { expression: EXPRESSION }), PATIENCE_MS);
}

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
