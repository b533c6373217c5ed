// Reaches into a thread that is busy with a task. V8 runs an inspector's request between two instructions of the
// JavaScript that runs, so a thread can be made to send what it holds back in the middle of a task; not in the middle
// of one long native call. This is for the rare case: a function that had always been short and now is not, with
// results of other tasks unsent. The first request takes ~8 ms, later ones less than 1.
//
// One session for the life of the process: NodeWorker.disable and disconnect() while other threads are attached crash
// Node 20 with SIGSEGV, a session that stays does not (300 requests beside threads that start and die).
import { Session } from 'node:inspector';
import { INTERRUPT } from '../worker/interruptHook.js';

/** After this time a thread that has not been found is not asked any more, in milliseconds. */
const PATIENCE_MS = 1000;

let session: Session | undefined;
let requests = 0;
/** Name of a thread → the inspector's id for it. */
const attached = new Map<string, string>();
/** Threads to interrupt as soon as the inspector knows them → until when. */
const wanted = new Map<string, number>();

/** Makes the thread of this name, which must be unique, run its interrupt hook. Returns at once and never throws. */
export function interruptThread(name: string): void {
  const id = attached.get(name);
  if (id !== undefined) {
    send(id);
    return;
  }
  wanted.set(name, performance.now() + PATIENCE_MS);
  if (session === undefined) connect();
}

function connect(): void {
  session = new Session();
  try {
    session.connect();
  } catch {
    // A build of Node without an inspector: the thread reports when its task is over.
    return;
  }
  session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
    // The title reads `[worker 3] threads-0`.
    const name = workerInfo.title.slice(workerInfo.title.indexOf('] ') + 2);
    attached.set(name, sessionId);
    const until = wanted.get(name);
    wanted.delete(name);
    if (until !== undefined && performance.now() < until) send(sessionId);
  });
  session.on('NodeWorker.detachedFromWorker', ({ params: { sessionId } }) => {
    for (const [name, id] of attached) if (id === sessionId) attached.delete(name);
  });
  session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
}

function send(sessionId: string): void {
  const expression = `globalThis[Symbol.for('${INTERRUPT}')]?.()`;
  const message = JSON.stringify({ id: ++requests, method: 'Runtime.evaluate', params: { expression } });
  session?.post('NodeWorker.sendMessageToWorker', { sessionId, message });
}
