// Reaches into a thread that is busy with a task. V8 runs an inspector's request between two instructions of the
// JavaScript that runs, so a thread can be made to send what it holds back in the middle of a task; not in the middle
// of one long native call. This takes ~8 ms, so it is for the rare case: a function that had always been short and now
// is not, with results of other tasks unsent.
import { Session } from 'node:inspector';
import { INTERRUPT } from '../worker/interruptHook.js';

/** After this time a thread that did not answer is left alone, in milliseconds. */
const PATIENCE_MS = 1000;

const underWay = new Set<string>();

/** Makes the thread of this name, which must be unique, run its interrupt hook. Returns at once and never throws. */
export function interruptThread(name: string): void {
  if (underWay.has(name)) return;
  underWay.add(name);
  const session = new Session();
  const end = (): void => {
    clearTimeout(timer);
    underWay.delete(name);
    session.disconnect();
  };
  const timer = setTimeout(end, PATIENCE_MS);
  timer.unref();
  try {
    session.connect();
  } catch {
    // No inspector in this build of Node: the thread reports when its task is over.
    end();
    return;
  }
  session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
    if (!workerInfo.title.endsWith(` ${name}`)) return;
    const request = { id: 1, method: 'Runtime.evaluate', params: { expression: `globalThis[Symbol.for('${INTERRUPT}')]?.()` } };
    session.post('NodeWorker.sendMessageToWorker', { sessionId, message: JSON.stringify(request) });
  });
  session.on('NodeWorker.receivedMessageFromWorker', () => session.post('NodeWorker.disable', end));
  session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
}
