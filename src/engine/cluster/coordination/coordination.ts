// Carries out the calls of shared objects: see protocol/coordination.ts. Tasks call through questions, the main program
// calls directly.
import type { LongpoleError } from '../../../base/errors.js';
import type { CoordinationKind, CoordinationKinds, SharedValue } from '../../../protocol/coordination.js';
import type { MetricSink } from '../engineParts.js';
import type { ResultHandles } from '../resultHandles.js';
import type { TaskQuestions } from '../taskQuestions.js';
import { ItemQueue } from './itemQueue.js';
import { NamedObjects } from './namedObjects.js';
import { ClientCaller, SharedCalls, type SharedKind } from './sharedCalls.js';
import type { SharedDump } from './sharedDump.js';
import { SharedLeases } from './sharedLeases.js';
import { type KeptValue, SharedResults } from './sharedResults.js';
import { VariableCell } from './variableCell.js';
import { type Begin, type Caller, waitFor } from './waitFor.js';
import { WaitMeter } from './waitMeter.js';

type Question<K extends CoordinationKind> = CoordinationKinds[K]['question'];
type Answer<K extends CoordinationKind> = CoordinationKinds[K]['answer'];
type Handlers = {
  readonly [K in CoordinationKind]: (question: Question<K>, caller: Caller) => Answer<K> | Promise<Answer<K>>;
};

function keysOf<K extends string>(record: Readonly<Record<K, unknown>>): K[] {
  const isKey = (name: string): name is K => name in record;
  return Object.keys(record).filter(isKey);
}

/** An event that is set has a value. */
const newEvent = (): VariableCell<true> => new VariableCell();
const newVariable = (): VariableCell<KeptValue> => new VariableCell();
const newQueue = (): ItemQueue<KeptValue> => new ItemQueue();

export class Coordination {
  readonly #clients = new Set<ClientCaller>();
  readonly #leases = new SharedLeases();
  readonly #waitMeter: WaitMeter;
  readonly #events = new NamedObjects<VariableCell<true>>();
  readonly #variables = new NamedObjects<VariableCell<KeptValue>>();
  readonly #queues = new NamedObjects<ItemQueue<KeptValue>>();
  /** Calls that wait. */
  readonly calls = new SharedCalls();
  /** Futures in variables and queues. */
  readonly results: SharedResults;
  readonly #handlers: Handlers = {
    'lease-acquire': (question, caller) =>
      this.#wait(
        question.what,
        'acquire',
        question,
        caller,
        this.#leases.acquire(question, caller),
        false,
        question.max,
      ),
    'lease-release': (question, caller) => this.#leases.release(question, caller),
    'lease-count': (question) => this.#leases.count(question),
    'event-wait': (question, caller) => {
      const begin: Begin<boolean> = (answer) =>
        this.#events.begin(question.name, newEvent, (event) => event.get(answer));
      return this.#wait('Event', 'wait', question, caller, begin, false);
    },
    'event-is-set': ({ name }) => this.#events.get(name)?.isSet ?? false,
    'event-change': ({ name, isSet }) =>
      this.#events.use(name, newEvent, (event): undefined => void (isSet ? event.set(true) : event.delete())),
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

  constructor(questions: TaskQuestions, results: ResultHandles, sink: MetricSink) {
    this.#waitMeter = new WaitMeter(sink);
    this.results = new SharedResults(results);
    for (const kind of keysOf(this.#handlers))
      questions.handle(kind, (question, asker) => this.call(kind, question, asker));
  }

  /** @param name name of the client, for dumps */
  addClient(name: string): ClientCaller {
    const client = new ClientCaller(name);
    this.#clients.add(client);
    return client;
  }

  /** Ends the waits of a client with this error, and releases its leases. */
  removeClient(client: ClientCaller, error: LongpoleError): void {
    this.#clients.delete(client);
    client.end(error);
    client.stop();
  }

  close(error: LongpoleError): void {
    // Ends all waits first, so that no client is granted a lease that another client releases below.
    for (const client of this.#clients) client.end(error);
    for (const client of this.#clients) this.removeClient(client, error);
    this.calls.close();
    this.#waitMeter.close();
  }

  /** Number of objects with state. */
  get size(): number {
    return this.#leases.size + this.#events.size + this.#variables.size + this.#queues.size;
  }

  /** @throws (rejects) the error of the call, or of the caller's end if the call waits then */
  async call<K extends CoordinationKind>(kind: K, question: Question<K>, caller: Caller): Promise<Answer<K>> {
    return this.#handlers[kind](question, caller);
  }

  /** Returns the objects with holders, items or waiting calls; first those with calls, by the oldest one. */
  dump(): SharedDump[] {
    const objects = new Map<string, SharedDump & { readonly waits: SharedDump['waits'][number][] }>();
    const dumpOf = (what: SharedKind, name: string) => {
      const id = `${what} ${name}`;
      const known = objects.get(id) ?? {
        what,
        name,
        holders: what === 'Lock' || what === 'Semaphore' ? this.#leases.holders({ what, name }) : [],
        items: what === 'Queue' ? (this.#queues.get(name)?.size ?? 0) : 0,
        waits: [],
      };
      objects.set(id, known);
      return known;
    };
    for (const { what, name, method, caller, age } of this.calls)
      dumpOf(what, name).waits.push({ method, caller: caller.key, age });
    for (const { what, name } of this.#leases.held) dumpOf(what, name);
    for (const name of this.#queues.names) dumpOf('Queue', name);
    return [...objects.values()];
  }

  /**
   * @param late answer at the time limit
   * @param leases number of leases of a lock or semaphore; 0 for other objects
   */
  #wait<A>(
    what: SharedKind,
    method: string,
    { name, timeout }: Pick<Question<'event-wait'>, 'name' | 'timeout'>,
    caller: Caller,
    begin: Begin<A>,
    late: A,
    leases = 0,
  ): Promise<A> {
    const work = waitFor(caller, timeout, begin, late);
    const measured = timeout === 0 ? work : this.#waitMeter.during(what, name, caller, work, leases);
    return this.calls.during({ what, name, method, caller, timeout }, measured);
  }

  #variableGet(question: Question<'variable-get'>, caller: Caller): Promise<SharedValue | undefined> {
    const begin: Begin<SharedValue | undefined> = (answer) =>
      this.#variables.begin(question.name, newVariable, (variable) =>
        variable.get((value) => answer(this.results.copy(value, caller))),
      );
    return this.#wait('Variable', 'get', question, caller, begin, undefined);
  }

  /** Changes a variable, and releases its previous value. */
  #replace(
    name: string,
    change: (variable: VariableCell<KeptValue>) => { readonly value: KeptValue } | undefined,
  ): undefined {
    const before = this.#variables.use(name, newVariable, change);
    if (before !== undefined) this.results.drop(before.value);
  }

  async #queuePut(question: Question<'queue-put'>, caller: Caller): Promise<boolean> {
    const { name, value, maxSize } = question;
    const kept = this.results.keep(value);
    const begin: Begin<boolean> = (answer) =>
      this.#queues.begin(name, newQueue, (queue) => queue.put(kept, maxSize, () => answer(true)));
    let isIn = false;
    try {
      isIn = await this.#wait('Queue', 'put', question, caller, begin, false);
    } finally {
      if (!isIn) this.results.drop(kept);
    }
    return isIn;
  }

  #queueGet(
    question: Question<'queue-get'>,
    caller: Caller,
  ): readonly SharedValue[] | Promise<readonly SharedValue[] | undefined> {
    const { name, count } = question;
    const give = (values: readonly KeptValue[]): SharedValue[] =>
      values.map((value) => this.results.give(value, caller));
    if (count === undefined) return give(this.#queues.use(name, newQueue, (queue) => queue.takeAll()));
    const begin: Begin<readonly SharedValue[] | undefined> = (answer) =>
      this.#queues.begin(name, newQueue, (queue) => queue.get(count, (values) => answer(give(values))));
    return this.#wait('Queue', 'get', question, caller, begin, undefined);
  }
}
