// Carries out the calls of shared objects: see protocol/coordination.ts. Tasks call through questions, the main program
// calls directly.
import { internalError, type LongpoleError } from '../../../base/errors.js';
import { visibleName } from '../../../base/visibleText.js';
import type { CoordinationKind, CoordinationKinds, SharedValue } from '../../../protocol/coordination.js';
import { CONTENDED, SHARED_CONTEXT, WAIT_FOR } from '../../../protocol/metrics.js';
import { isPacked, type PackedResult } from '../../../protocol/packedResult.js';
import { MetricLedger } from '../../metrics/metricLedger.js';
import { ResultHandle } from '../computationState.js';
import type { MetricSink } from '../engineParts.js';
import { metricSamples } from '../metricSamples.js';
import type { ResultHandles } from '../resultHandles.js';
import type { TaskQuestions } from '../taskQuestions.js';
import { ItemQueue } from './itemQueue.js';
import { NamedObjects } from './namedObjects.js';
import { ClientCaller, SharedCalls, type SharedKind } from './sharedCalls.js';
import type { SharedDump } from './sharedDump.js';
import { SharedLeases } from './sharedLeases.js';
import { VariableCell } from './variableCell.js';
import { type Begin, type Caller, perCaller, waitFor } from './waitFor.js';

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
      this.#wait(question.what, 'acquire', question, caller, this.#leases.acquire(question, caller), false),
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

  /** @param late answer at the time limit */
  #wait<A>(
    what: SharedKind,
    method: string,
    { name, timeout }: Pick<Question<'event-wait'>, 'name' | 'timeout'>,
    caller: Caller,
    begin: Begin<A>,
    late: A,
  ): Promise<A> {
    const work = waitFor(caller, timeout, begin, late);
    const measured = timeout === 0 ? work : this.#waitMeter.during(what, name, caller, work);
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

// Results of the cluster in variables and queues. A variable or queue that keeps a future holds one reference to its
// result. A future on its way to a caller holds another one, until the caller has its own reference or has stopped.

/** A value inside an object. */
type KeptValue = PackedResult | ResultHandle;

class SharedResults {
  readonly #results: ResultHandles;
  /** Results on their way. */
  readonly #given = perCaller(
    () => new Set<{ readonly handle: ResultHandle }>(),
    (given) => {
      for (const { handle } of given) this.drop(handle);
      given.clear();
    },
  );

  constructor(results: ResultHandles) {
    this.#results = results;
  }

  /** @throws LongpoleError ERR_LONGPOLE_FUTURE */
  keep(value: SharedValue): KeptValue {
    if (isPacked(value)) return value;
    const handle = this.#results.checked(this.#results.byKey.get(value.future), value.future);
    handle.references++;
    return handle;
  }

  drop(value: KeptValue): void {
    if (value instanceof ResultHandle) this.#results.release(value);
  }

  /** Gives a value to a caller. The object keeps it, too. */
  copy(value: KeptValue, caller: Caller): SharedValue {
    if (value instanceof ResultHandle) value.references++;
    return this.give(value, caller);
  }

  /** Gives a value to a caller, with the reference of the object. */
  give(value: KeptValue, caller: Caller): SharedValue {
    if (!(value instanceof ResultHandle)) return value;
    if (caller.stopped.aborted) {
      this.drop(value);
      return { future: value.key };
    }
    this.#given(caller).add({ handle: value });
    return { future: value.key };
  }

  /** Calls `receive` with a result that the caller was given. The function adds the caller's reference. */
  received<R>(key: string, caller: Caller, receive: (handle: ResultHandle) => R): R {
    const given = this.#given(caller);
    for (const one of given) {
      if (one.handle.key !== key) continue;
      const result = receive(one.handle);
      given.delete(one);
      this.drop(one.handle);
      return result;
    }
    throw internalError(`The future '${key}' was not given to this caller.`);
  }
}

// Measures how long tasks wait for shared objects, as metrics of the context `shared`: the seconds that the tasks of each
// prefix waited for an object, and for locks and semaphores also the seconds in which the object had waiting calls.

/** Milliseconds between two reports, as between the reports of workers. */
const REPORT_MS = 500;
/** Objects with separate sums. Those of further objects are summed as one object. */
const MAX_OBJECTS = 1000;

/** A call of a task that waits. */
interface Wait {
  readonly object: string;
  /** Whether other tasks hold the object meanwhile. An event or a queue limits no number of tasks. */
  readonly isLease: boolean;
  readonly prefix: string;
  readonly start: number;
}

class WaitMeter {
  readonly #sink: MetricSink;
  readonly #ledger = new MetricLedger(MAX_OBJECTS);
  /** Objects with waiting calls of tasks: their number, and the time up to which the object's seconds are counted. */
  readonly #contended = new Map<string, { calls: number; since: number }>();
  readonly #waits = new Set<Wait>();
  #timer: NodeJS.Timeout | undefined;

  constructor(sink: MetricSink) {
    this.#sink = sink;
  }

  /** Counts the time until `work` settles, a call that waits for the object. Returns the outcome of `work`. */
  async during<A>(what: SharedKind, name: string, { prefix }: Caller, work: Promise<A>): Promise<A> {
    if (prefix === undefined || !this.#sink.hasObservers) return work;
    const object = `${what} '${visibleName(name)}'`;
    const isLease = what === 'Lock' || what === 'Semaphore';
    const wait: Wait = { object, isLease, prefix, start: this.#sink.clock() };
    this.#waits.add(wait);
    const contended = this.#contended.get(object) ?? { calls: 0, since: wait.start };
    if (contended.calls++ === 0) this.#contended.set(object, contended);
    try {
      return await work;
    } finally {
      this.#count(wait);
    }
  }

  /** Counts a wait that has ended, unless it has been counted. */
  #count(wait: Wait): void {
    if (!this.#waits.delete(wait)) return;
    const { object, isLease, prefix, start } = wait;
    const contended = this.#contended.get(object)!;
    const now = this.#sink.clock();
    this.#ledger.add([SHARED_CONTEXT, '', prefix, `${WAIT_FOR}${object}`, 'seconds'], now - start);
    if (isLease)
      this.#ledger.add([SHARED_CONTEXT, `${CONTENDED}${object}`, 'seconds'], now - contended.since);
    contended.since = now;
    if (--contended.calls === 0) this.#contended.delete(object);
    this.#timer ??= setTimeout(() => this.#report(), REPORT_MS).unref();
  }

  #report(): void {
    this.#timer = undefined;
    const now = this.#sink.clock();
    for (const sample of metricSamples(this.#ledger.takeChanges(), -1, now))
      this.#sink.notify((observer) => observer.metric?.(sample));
  }

  /** Reports what has not been reported, also the waits that the close ends. */
  close(): void {
    for (const wait of this.#waits) this.#count(wait);
    clearTimeout(this.#timer);
    this.#report();
  }
}
