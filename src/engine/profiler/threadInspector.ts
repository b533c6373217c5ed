// The single inspector session of this process, which reaches its threads from outside. V8 runs an inspector's request
// between two instructions of JavaScript. So a thread answers during a task, but not during a native call.
//
// The session lasts as long as the process, and is opened before the first thread starts, because Node 20 has three
// defects. NodeWorker.disable and disconnect() crash with SIGSEGV while other threads are attached. So does a thread
// that ends while NodeWorker.enable reports the running ones: Node walks a map from which the end of a thread removes
// an entry. A message to a thread whose inspector is being destroyed aborts Node, so threads announce their end.
import { type InspectorNotification, type Profiler, Session } from 'node:inspector';
import { once, pushTo } from '../../base/lookUps.js';

/** The session of one thread, which may also be the scheduler's own. */
export interface InspectorChannel {
  /** Sends a request. `answer` receives the result, or undefined if the thread refused the request or has ended. */
  send(method: string, params: object, answer?: (result: unknown) => void): void;
  /** Calls `handler` with every profile that `console.profileEnd` has finished, until the returned function is called. */
  onProfile(handler: OnProfile): () => void;
}

type OnProfile = (title: string | undefined, profile: Profiler.Profile) => void;

const PROFILE_FINISHED = 'Profiler.consoleProfileFinished';

/** The messages of a thread's inspector that are read here. */
type InspectorMessage =
  | { readonly id: number; readonly result?: unknown }
  | {
      readonly method: typeof PROFILE_FINISHED;
      readonly params: Profiler.ConsoleProfileFinishedEventDataType;
    };

class AttachedThread implements InspectorChannel {
  readonly #session: Session;
  readonly #id: string;
  readonly #isEnding: () => boolean;
  readonly #answers = new Map<number, (result: unknown) => void>();
  readonly #onProfile = new Set<OnProfile>();
  #requests = 0;
  #quiet: (() => void)[] = [];

  constructor(session: Session, id: string, isEnding: () => boolean) {
    this.#session = session;
    this.#id = id;
    this.#isEnding = isEnding;
  }

  send(method: string, params: object, answer?: (result: unknown) => void): void {
    if (this.#isEnding()) {
      answer?.(undefined);
      return;
    }
    const id = ++this.#requests;
    this.#answers.set(id, answer ?? (() => undefined));
    const message = JSON.stringify({ id, method, params });
    this.#session.post('NodeWorker.sendMessageToWorker', { sessionId: this.#id, message }, (error) => {
      if (error !== null) this.#answer(id, undefined);
    });
  }

  onProfile(handler: OnProfile): () => void {
    this.#onProfile.add(handler);
    return () => void this.#onProfile.delete(handler);
  }

  received(text: string): void {
    const message: InspectorMessage = JSON.parse(text);
    if ('id' in message) this.#answer(message.id, message.result);
    else if (message.method === PROFILE_FINISHED)
      for (const handler of [...this.#onProfile]) handler(message.params.title, message.params.profile);
  }

  /** Calls `then` as soon as no request is in progress; at once if there is none. */
  whenQuiet(then: () => void): void {
    if (this.#answers.size === 0) then();
    else this.#quiet.push(then);
  }

  gone(): void {
    for (const id of [...this.#answers.keys()]) this.#answer(id, undefined);
  }

  #answer(id: number, result: unknown): void {
    const answer = this.#answers.get(id);
    this.#answers.delete(id);
    answer?.(result);
    if (this.#answers.size === 0) for (const then of this.#quiet.splice(0)) then();
  }
}

/** Returns this thread's own inspector, shared by all callers; undefined if Node's permissions forbid it. */
export const inspectThisThread = once((): InspectorChannel | undefined => {
  const own = new Session();
  try {
    own.connect();
  } catch {
    return undefined;
  }
  return {
    send: (method, params, answer) =>
      own.post(method, params, (error, result) => answer?.(error === null ? result : undefined)),
    onProfile: (handler) => {
      const listener = ({ params }: InspectorNotification<Profiler.ConsoleProfileFinishedEventDataType>) =>
        handler(params.title, params.profile);
      own.on(PROFILE_FINISHED, listener);
      return () => void own.off(PROFILE_FINISHED, listener);
    },
  };
});

interface Watcher {
  attached(channel: InspectorChannel): void;
  /** Milliseconds on `performance.now()` after which the watcher gives up. */
  readonly until: number;
}

let session: Session | undefined;
/** False if this build of Node has no inspector. */
let available = true;
const threads = new Map<string, AttachedThread>();
const byId = new Map<string, AttachedThread>();
const waiting = new Map<string, Watcher[]>();
/** Threads that run or are about to start → returns whether the thread has begun to end. */
const endings = new Map<string, () => boolean>();

/**
 * Calls `attached` with the thread of this name, which must be unique in the process. Calls at once if the inspector
 * has found the thread, otherwise as soon as it has. Never calls if that takes longer than `patienceMs`, or if this
 * Node has no inspector. The first call in a process takes some milliseconds, and finding a thread ~10.
 */
export function inspectThread(
  name: string,
  attached: (channel: InspectorChannel) => void,
  patienceMs = Number.POSITIVE_INFINITY,
): void {
  const thread = threads.get(name);
  if (thread !== undefined) {
    attached(thread);
    return;
  }
  if (!available) return;
  pushTo(waiting, name, { attached, until: performance.now() + patienceMs });
  if (session === undefined) connect();
}

/**
 * Announces a thread of this name. Call it before the thread starts. Takes 0.3 ms once per process. Never throws.
 *
 * @param isEnding returns whether the thread has begun to end, so that nothing is sent to it
 */
export function announceThread(name: string, isEnding: () => boolean): void {
  if (session === undefined) connect();
  if (available) endings.set(name, isEnding);
}

/**
 * Calls `then` once no request to this thread is in progress, at the latest after `patienceMs`; at once if there
 * never was one. If a thread is terminated while a request runs, the request swallows the termination, and the thread
 * runs for ever.
 */
export function whenThreadIsQuiet(name: string, then: () => void, patienceMs: number): void {
  const thread = threads.get(name);
  if (thread === undefined) {
    then();
    return;
  }
  let called = false;
  const once = (): void => {
    if (called) return;
    called = true;
    clearTimeout(timer);
    then();
  };
  const timer = setTimeout(once, patienceMs);
  thread.whenQuiet(once);
}

/** Discards a thread that has died or is not watched any more. */
export function forgetThread(name: string): void {
  waiting.delete(name);
}

function notifyWatchers(name: string, thread: AttachedThread): void {
  const watchers = waiting.get(name) ?? [];
  waiting.delete(name);
  for (const { attached, until } of watchers) if (performance.now() < until) attached(thread);
}

function connect(): void {
  const opened = new Session();
  session = opened;
  try {
    opened.connect();
  } catch {
    available = false;
    waiting.clear();
    return;
  }
  opened.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
    // The title has the form `[worker 3] threads-0`.
    const name = workerInfo.title.slice(workerInfo.title.indexOf('] ') + 2);
    const thread = new AttachedThread(opened, sessionId, endings.get(name) ?? (() => false));
    endings.delete(name);
    threads.set(name, thread);
    byId.set(sessionId, thread);
    // Deferred, because a watcher's message may end a thread while the inspector walks through its threads.
    queueMicrotask(() => notifyWatchers(name, thread));
  });
  // Events of threads interrupt any JavaScript, also Node's own loop over the queue of `process.nextTick`. If a handler
  // called `nextTick` (as `process.send` does) at the end of that loop, Node (20.20 at least) would never run the queue
  // again: the process would receive no message of its parent or children. So handlers run in a turn of the event loop.
  opened.on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId, message } }) => {
    setImmediate(() => byId.get(sessionId)?.received(message));
  });
  opened.on('NodeWorker.detachedFromWorker', ({ params: { sessionId } }) => {
    setImmediate(() => {
      const thread = byId.get(sessionId);
      byId.delete(sessionId);
      for (const [name, each] of threads) if (each === thread) threads.delete(name);
      thread?.gone();
    });
  });
  opened.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
}
