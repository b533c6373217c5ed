// Makes a thread that is busy with a task send what it holds back, in the middle of the task. This is for the rare
// case: a function that had always been short and now is not, with results of other tasks unsent. The first request
// takes ~8 ms, later ones less than 1.
import { inspectThread } from '../profiler/threadInspector.js';
import { INTERRUPT } from '../worker/interruptHook.js';

/** After this time a thread that has not been found is not asked any more, in milliseconds. */
const PATIENCE_MS = 1000;
const EXPRESSION = `globalThis[Symbol.for('${INTERRUPT}')]?.()`;

/** Makes the thread of this name, which must be unique, run its interrupt hook. Returns at once and never throws. */
export function interruptThread(name: string): void {
  inspectThread(name, (thread) => thread.send('Runtime.evaluate', { expression: EXPRESSION }), PATIENCE_MS);
}
