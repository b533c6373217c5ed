// The calls of shared objects that wait. A call of a client keeps the program alive, because a task or a timer of the
// program may end its wait. A task that waits keeps the program alive by itself.

import { setMaxListeners } from 'node:events';
import type { LongpoleError } from '../../../base/errors.js';
import { keepAlive } from '../keepAlive.js';
import type { AskerEnd } from '../taskQuestions.js';
import type { Caller } from './waitFor.js';

/** Classes of shared objects. */
export type SharedKind = 'Lock' | 'Semaphore' | 'Event' | 'Variable' | 'Queue';

export interface SharedCall {
  readonly what: SharedKind;
  /** Name of the object. */
  readonly name: string;
  /** Name of the method. */
  readonly method: string;
  readonly caller: Caller;
  /** Seconds after which the call ends without success. Undefined: no limit. */
  readonly timeout: number | undefined;
}

export class SharedCalls {
  /** Call → its start, as a time of `performance`. In the order of the calls. */
  readonly #open = new Map<SharedCall, number>();
  readonly #keepAlive = keepAlive();
  #clientCalls = 0;
  /** Number of calls so far. */
  begun = 0;

  /** Lists a call until `work` settles. Returns the outcome of `work`. */
  async during<A>(call: SharedCall, work: Promise<A>): Promise<A> {
    const ofClient = Number(call.caller instanceof ClientCaller);
    this.#open.set(call, performance.now());
    this.begun++;
    this.#count(ofClient);
    try {
      return await work;
    } finally {
      this.#open.delete(call);
      this.#count(-ofClient);
    }
  }

  #count(change: number): void {
    this.#clientCalls += change;
    this.#keepAlive(this.#clientCalls > 0);
  }

  /** The calls that wait, the oldest first, with the seconds since their start. */
  *[Symbol.iterator](): Generator<SharedCall & { readonly age: number }> {
    const now = performance.now();
    for (const [call, since] of this.#open) yield { ...call, age: Math.round(now - since) / 1000 };
  }

  /** Whether calls wait, and no time limit ends one of them. */
  get isEndless(): boolean {
    const calls = [...this.#open.keys()];
    return calls.length > 0 && calls.every(({ timeout = Number.POSITIVE_INFINITY }) => timeout === Infinity);
  }

  get waitingTasks(): number {
    const callers = Array.from(this.#open.keys(), ({ caller }) => caller);
    return new Set(callers.filter((caller) => !(caller instanceof ClientCaller))).size;
  }

  close(): void {
    this.#keepAlive(false);
  }
}

export class ClientCaller implements Caller {
  readonly key: string;
  readonly #ended = new AbortController();
  readonly #stopped = new AbortController();
  readonly ended: AbortSignal = this.#ended.signal;
  readonly stopped: AbortSignal = this.#stopped.signal;

  /** @param name name of the client */
  constructor(name: string) {
    this.key = name;
    // A program may wait for many objects at the same time.
    setMaxListeners(0, this.ended, this.stopped);
  }

  /** Ends the waits of the client with this error. */
  end(error: LongpoleError): void {
    const reason: AskerEnd = { how: 'closed', error };
    this.#ended.abort(reason);
  }

  /** Releases the leases of the client. */
  stop(): void {
    this.#stopped.abort();
  }
}
