// Carries out the calls of shared objects: see protocol/coordination.ts. Tasks call through questions, the main program
// calls directly.
import { setMaxListeners } from 'node:events';
import type { LongpoleError } from '../../../base/errors.js';
import type { CoordinationKind, CoordinationKinds } from '../../../protocol/coordination.js';
import type { OpenWaits } from '../../openWaits.js';
import type { AskerEnd, TaskQuestions } from '../taskQuestions.js';
import { SharedLeases } from './sharedLeases.js';
import type { Caller } from './waitFor.js';

type Question<K extends CoordinationKind> = CoordinationKinds[K]['question'];
type Answer<K extends CoordinationKind> = CoordinationKinds[K]['answer'];
type Handlers = {
  readonly [K in CoordinationKind]: (question: Question<K>, caller: Caller) => Answer<K> | Promise<Answer<K>>;
};

/** A client as a caller, from its first call to its end. */
export class ClientCaller implements Caller {
  readonly #ended = new AbortController();
  readonly #stopped = new AbortController();

  constructor() {
    // A program may wait for many objects at the same time.
    setMaxListeners(0, this.ended, this.stopped);
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  get stopped(): AbortSignal {
    return this.#stopped.signal;
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

export class Coordination {
  readonly #clients = new Set<ClientCaller>();
  readonly #leases = new SharedLeases();
  readonly #waits: OpenWaits;
  readonly #handlers: Handlers = {
    'lease-acquire': (question, caller) =>
      this.#waits.during(`${question.what}.acquire`, question.name, this.#leases.acquire(question, caller)),
    'lease-release': (question, caller) => this.#leases.release(question, caller),
    'lease-count': (question) => this.#leases.count(question),
  };

  constructor(waits: OpenWaits, questions: TaskQuestions) {
    this.#waits = waits;
    const register = <K extends CoordinationKind>(kind: K): void =>
      questions.handle(kind, (question, asker) => this.call(kind, question, asker));
    register('lease-acquire');
    register('lease-release');
    register('lease-count');
  }

  addClient(): ClientCaller {
    const client = new ClientCaller();
    this.#clients.add(client);
    return client;
  }

  /** Ends the waits of a client with this error, and releases its leases. */
  removeClient(client: ClientCaller, error: LongpoleError): void {
    this.#clients.delete(client);
    client.end(error);
    client.stop();
  }

  /** Removes all clients. */
  close(error: LongpoleError): void {
    // No client is to get what another one releases.
    for (const client of this.#clients) client.end(error);
    for (const client of this.#clients) this.removeClient(client, error);
  }

  /** Number of objects with state. */
  get size(): number {
    return this.#leases.size;
  }

  /** @throws (rejects) the error of the call, or of the caller's end if the call waits then */
  async call<K extends CoordinationKind>(kind: K, question: Question<K>, caller: Caller): Promise<Answer<K>> {
    return this.#handlers[kind](question, caller);
  }
}
