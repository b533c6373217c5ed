// Carries out the calls of shared objects: see protocol/coordination.ts. Tasks call through questions, the main program
// calls directly.
import { setMaxListeners } from 'node:events';
import type { LongpoleError } from '../../../base/errors.js';
import type { CoordinationKind, CoordinationKinds, SharedValue } from '../../../protocol/coordination.js';
import type { OpenWaits } from '../../openWaits.js';
import type { ResultHandles } from '../resultHandles.js';
import type { AskerEnd, TaskQuestions } from '../taskQuestions.js';
import { EventFlag } from './eventFlag.js';
import { ItemQueue } from './itemQueue.js';
import { NamedObjects } from './namedObjects.js';
import { SharedLeases } from './sharedLeases.js';
import { type KeptValue, SharedResults } from './sharedResults.js';
import { VariableCell } from './variableCell.js';
import { type Begin, type Caller, waitFor } from './waitFor.js';

type Question<K extends CoordinationKind> = CoordinationKinds[K]['question'];
type Answer<K extends CoordinationKind> = CoordinationKinds[K]['answer'];
type Handlers = {
  readonly [K in CoordinationKind]: (question: Question<K>, caller: Caller) => Answer<K> | Promise<Answer<K>>;
};

const KINDS = [
  'lease-acquire',
  'lease-release',
  'lease-count',
  'event-wait',
  'event-is-set',
  'event-change',
  'variable-get',
  'variable-set',
  'variable-delete',
  'queue-put',
  'queue-get',
  'queue-size',
] as const satisfies readonly CoordinationKind[];

const newEvent = (): EventFlag => new EventFlag();
const newVariable = (): VariableCell<KeptValue> => new VariableCell();
const newQueue = (): ItemQueue<KeptValue> => new ItemQueue();

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
  readonly #events = new NamedObjects<EventFlag>();
  readonly #variables = new NamedObjects<VariableCell<KeptValue>>();
  readonly #queues = new NamedObjects<ItemQueue<KeptValue>>();
  readonly #waits: OpenWaits;
  /** Futures in variables and queues. */
  readonly results: SharedResults;
  readonly #handlers: Handlers = {
    'lease-acquire': (question, caller) =>
      this.#waits.during(`${question.what}.acquire`, question.name, this.#leases.acquire(question, caller)),
    'lease-release': (question, caller) => this.#leases.release(question, caller),
    'lease-count': (question) => this.#leases.count(question),
    'event-wait': (question, caller) => this.#eventWait(question, caller),
    'event-is-set': ({ name }) => this.#events.get(name)?.isSet ?? false,
    'event-change': ({ name, isSet }) =>
      this.#events.use(name, newEvent, (event): undefined => void (isSet ? event.set() : event.clear())),
    'variable-get': (question, caller) => this.#variableGet(question, caller),
    'variable-set': ({ name, value }) => {
      const kept = this.results.keep(value);
      return this.#replace(name, (variable) => variable.set(kept));
    },
    'variable-delete': ({ name }) => this.#replace(name, (variable) => variable.delete()),
    'queue-put': (question, caller) => this.#queuePut(question, caller),
    'queue-get': (question, caller) => this.#queueGet(question, caller),
    'queue-size': ({ name }) => this.#queues.get(name)?.size ?? 0,
  };

  constructor(waits: OpenWaits, questions: TaskQuestions, results: ResultHandles) {
    this.#waits = waits;
    this.results = new SharedResults(results);
    for (const kind of KINDS) questions.handle(kind, (question, asker) => this.call(kind, question, asker));
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
    return this.#leases.size + this.#events.size + this.#variables.size + this.#queues.size;
  }

  /** @throws (rejects) the error of the call, or of the caller's end if the call waits then */
  async call<K extends CoordinationKind>(kind: K, question: Question<K>, caller: Caller): Promise<Answer<K>> {
    return this.#handlers[kind](question, caller);
  }

  #eventWait({ name, timeout }: Question<'event-wait'>, caller: Caller): Promise<boolean> {
    const begin: Begin<boolean> = (answer) =>
      this.#events.begin(name, newEvent, (event) => event.wait(() => answer(true)));
    return this.#waits.during('Event.wait', name, waitFor(caller, timeout, begin, false));
  }

  #variableGet(
    { name, timeout }: Question<'variable-get'>,
    caller: Caller,
  ): Promise<SharedValue | undefined> {
    const begin: Begin<SharedValue | undefined> = (answer) =>
      this.#variables.begin(name, newVariable, (variable) =>
        variable.get((value) => answer(this.results.copy(value, caller))),
      );
    return this.#waits.during('Variable.get', name, waitFor(caller, timeout, begin, undefined));
  }

  /** Changes a variable. The cluster need not keep its value before. */
  #replace(
    name: string,
    change: (variable: VariableCell<KeptValue>) => { readonly value: KeptValue } | undefined,
  ): undefined {
    const before = this.#variables.use(name, newVariable, change);
    if (before !== undefined) this.results.drop(before.value);
  }

  async #queuePut(
    { name, timeout, value, maxSize }: Question<'queue-put'>,
    caller: Caller,
  ): Promise<boolean> {
    const kept = this.results.keep(value);
    const begin: Begin<boolean> = (answer) =>
      this.#queues.begin(name, newQueue, (queue) => queue.put(kept, maxSize, () => answer(true)));
    let isIn = false;
    try {
      isIn = await this.#waits.during('Queue.put', name, waitFor(caller, timeout, begin, false));
    } finally {
      if (!isIn) this.results.drop(kept);
    }
    return isIn;
  }

  #queueGet(
    { name, timeout, count }: Question<'queue-get'>,
    caller: Caller,
  ): readonly SharedValue[] | Promise<readonly SharedValue[] | undefined> {
    const give = (values: readonly KeptValue[]): SharedValue[] =>
      values.map((value) => this.results.give(value, caller));
    if (count === undefined) return give(this.#queues.use(name, newQueue, (queue) => queue.takeAll()));
    const begin: Begin<readonly SharedValue[] | undefined> = (answer) =>
      this.#queues.begin(name, newQueue, (queue) => queue.get(count, (values) => answer(give(values))));
    return this.#waits.during('Queue.get', name, waitFor(caller, timeout, begin, undefined));
  }
}
