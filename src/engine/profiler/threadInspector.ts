// The one inspector session of this process, through which its threads are reached from outside: V8 runs an
// inspector's request between two instructions of the JavaScript that runs, so a thread answers in the middle of a
// task; not in the middle of one long native call.
//
// One session for the life of the process, opened before its first thread starts: NodeWorker.disable and disconnect()
// while other threads are attached crash Node 20 with SIGSEGV, and so does a thread that ends while NodeWorker.enable
// tells of those that run (it walks a map from which the end of a thread, noticed between two lines of JavaScript, takes
// an entry). A session that is there before the threads does neither. A message to a thread whose inspector is being
// taken down aborts Node 20, so threads say when they end.
import { Session } from 'node:inspector';
import { getOrMake } from '../../base/lookUps.js';

/** What a session of one thread can do; the scheduler's own thread has one, too. */
export interface InspectorChannel {
  /** Sends a request. `answer` is called with what came back, or with undefined if the thread refused or is gone. */
  send(method: string, params: object, answer?: (result: unknown) => void): void;
  /** Calls `handler` with the parameters of every event of this name, until the function returned is called. */
  on(event: string, handler: (params: unknown) => void): () => void;
}

class Handlers {
  readonly #byEvent = new Map<string, Set<(params: unknown) => void>>();

  add(event: string, handler: (params: unknown) => void): () => void {
    const handlers = getOrMake(this.#byEvent, event, () => new Set());
    handlers.add(handler);
    return () => void handlers.delete(handler);
  }

  call(event: string, params: unknown): void {
    for (const handler of [...(this.#byEvent.get(event) ?? [])]) handler(params);
  }
}

class AttachedThread implements InspectorChannel {
  readonly #session: Session;
  readonly #id: string;
  readonly #isEnding: () => boolean;
  readonly #answers = new Map<number, (result: unknown) => void>();
  readonly #handlers = new Handlers();
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

  on(event: string, handler: (params: unknown) => void): () => void {
    return this.#handlers.add(event, handler);
  }

  received(text: string): void {
    const message: unknown = JSON.parse(text);
    if (typeof message !== 'object' || message === null) return;
    if ('id' in message && typeof message.id === 'number')
      this.#answer(message.id, 'result' in message ? message.result : undefined);
    else if ('method' in message && typeof message.method === 'string')
      this.#handlers.call(message.method, 'params' in message ? message.params : undefined);
  }

  /** Calls `then` as soon as no request is under way; at once if none is. */
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

let ownChannel: InspectorChannel | undefined;

/** This thread's own inspector, the same for everybody who asks. */
export function inspectThisThread(): InspectorChannel {
  ownChannel ??= openOwnChannel();
  return ownChannel;
}

function openOwnChannel(): InspectorChannel {
  const own = new Session();
  const handlers = new Handlers();
  own.connect();
  own.on('Profiler.consoleProfileFinished', ({ params }) =>
    handlers.call('Profiler.consoleProfileFinished', params),
  );
  return {
    send: (method, params, answer) =>
      own.post(method, params, (error, result) => answer?.(error === null ? result : undefined)),
    on: (event, handler) => handlers.add(event, handler),
  };
}

interface Watcher {
  attached(channel: InspectorChannel): void;
  /** Milliseconds on `performance.now()` after which nobody waits for the thread any more. */
  readonly until: number;
}

let session: Session | undefined;
/** False: this build of Node has no inspector. */
let available = true;
const threads = new Map<string, AttachedThread>();
const byId = new Map<string, AttachedThread>();
const waiting = new Map<string, Watcher[]>();
/** Of threads that run or are about to: whether they have begun to end. */
const endings = new Map<string, () => boolean>();

/**
 * Calls `attached` with the thread of this name, which must be unique in the process: at once if the inspector knows it,
 * and else as soon as it does, unless that takes longer than `patienceMs` or this Node has no inspector. The first call in a
 * process takes some milliseconds, and finding a thread ~10.
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
  const watchers = waiting.get(name) ?? [];
  watchers.push({ attached, until: performance.now() + patienceMs });
  waiting.set(name, watchers);
  if (session === undefined) connect();
}

/**
 * To be called before a thread of this name is started; 0.3 ms once per process. Never throws.
 *
 * @param isEnding whether the thread has begun to end: nothing is sent to it then
 */
export function announceThread(name: string, isEnding: () => boolean): void {
  if (session === undefined) connect();
  if (available) endings.set(name, isEnding);
}

/**
 * Calls `then` once no request to this thread is under way, at the latest after `patienceMs`; at once if the thread was never
 * asked for. A request that runs when a thread is terminated swallows the termination: the thread goes on for ever.
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

/** Nobody waits for this thread any more: it has died, or is not wanted. */
export function forgetThread(name: string): void {
  waiting.delete(name);
}

function tellWatchers(name: string, thread: AttachedThread): void {
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
    // The title reads `[worker 3] threads-0`.
    const name = workerInfo.title.slice(workerInfo.title.indexOf('] ') + 2);
    const thread = new AttachedThread(opened, sessionId, endings.get(name) ?? (() => false));
    endings.delete(name);
    threads.set(name, thread);
    byId.set(sessionId, thread);
    // Not at once: what they send may end a thread, and the inspector may be walking through its threads.
    queueMicrotask(() => tellWatchers(name, thread));
  });
  opened.on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId, message } }) =>
    byId.get(sessionId)?.received(message),
  );
  opened.on('NodeWorker.detachedFromWorker', ({ params: { sessionId } }) => {
    const thread = byId.get(sessionId);
    byId.delete(sessionId);
    for (const [name, each] of threads) if (each === thread) threads.delete(name);
    thread?.gone();
  });
  opened.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
}
