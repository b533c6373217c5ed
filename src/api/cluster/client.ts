// `Client`: the interface of a program to a cluster.
import { checkNoMore, checkOptions, invalid } from '../../base/arguments.js';
import { invalidArgument, LongpoleError } from '../../base/errors.js';
import { watchersForRun } from '../../diagnostics/callbackObservers.js';
import { callingLine } from '../../diagnostics/callingLine.js';
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import type { ComputationState, ResultHandle } from '../../engine/cluster/computationState.js';
import { cuttingOff } from '../../engine/cluster/cutOffTasks.js';
import { untilClosed } from '../../engine/cluster/endedByClosing.js';
import { abortedError } from '../../engine/taskFailure.js';
import { annotatedStages } from '../../graph/annotatedStages.js';
import type { AnyFunction } from '../../graph/callable.js';
import { compileGraph, type Plan } from '../../graph/compile.js';
import type { Delayed } from '../../graph/delayed.js';
import type { Input, Inputs } from '../../graph/input.js';
import { flattenKeys, shapeLike } from '../../graph/nestedKeys.js';
import { functionRefs } from '../../graph/shipFunction.js';
import type { TaskFunction } from '../../graph/taskFunction.js';
import type { Graph, Keys } from '../../protocol/graph.js';
import type { RunWatcher } from '../../protocol/runObserver.js';
import { delayedArguments } from '../argumentChecks.js';
import type { Computed, Persisted } from '../computed.js';
import { cancelOnAbort } from './cancelOnAbort.js';
import { ClientCalls } from './clientCalls.js';
import {
  type Call,
  SCATTER_OPTIONS,
  type ScatterOptions,
  type SubmitOptions,
  type SubmitPolicy,
  submitPolicy,
  type WatchedCall,
} from './clientOptions.js';
import type { ClientTools } from './clientTools.js';
import type { Cluster } from './cluster.js';
import {
  Future,
  type FutureOwner,
  futureList,
  notAwaitable,
  resultHandle,
  type ScatteredFuture,
} from './future.js';
import { GATHER_OPTIONS, type Gathered, type GatherOptions, gatherNested } from './gather.js';
import { HeldHandles } from './heldHandles.js';
import { compilePlan, PendingSubmissions } from './pendingSubmissions.js';
import { persistStages } from './persistStages.js';
import { mapCalls, type Submitter, submitCall } from './submitCall.js';

type Callable<F extends AnyFunction> = F | TaskFunction<F>;

/** An iterable for each parameter of a function. */
type Iterables<P extends readonly unknown[]> = { [I in keyof P]: Iterable<Input<P[I]>> };

/**
 * A connection to a cluster, returned by `connect()`. Several clients may use one cluster; each holds separate futures.
 *
 * @source Dask, `distributed.Client`
 */
export class Client extends ClientCalls implements AsyncDisposable {
  readonly #engine: ClusterEngine;
  readonly #ownsCluster: boolean;
  readonly #owner: FutureOwner = {
    flush: () => this.#submissions.flush(),
    fetch: (handles) => this.tools.fetchResults(this.#engine, handles.map(resultHandle)),
    awaiting: (call, future, work) => this.#engine.waits.during(call, future.key, work, future),
    untilClosed: (call) =>
      this.isClosed
        ? call
        : untilClosed(
            () => call,
            () => this.isClosed,
          ),
    hold: (handle) => this.#held.hold(resultHandle(handle)),
    release: (handle) => {
      // Pending submissions may use the result.
      this.#submissions.flush();
      this.#held.release(resultHandle(handle));
    },
    cancel: (handles) => {
      this.#submissions.flush();
      this.#engine.results.cancel(handles.map(resultHandle));
    },
  };
  readonly #submissions = new PendingSubmissions(
    () => this.#engine.clock(),
    (list, options, call) => this.#start(list, submitPolicy('submit()', options), call),
  );
  readonly #submitter: Submitter = {
    submissions: this.#submissions,
    owner: this.#owner,
    known: (key) => this.#engine.results.known(key),
  };
  readonly #held: HeldHandles;

  /** @internal Use `connect()`. */
  constructor(cluster: Cluster, ownsCluster: boolean, tools: ClientTools) {
    super(cluster, tools);
    if (typeof ownsCluster !== 'boolean')
      throw invalidArgument('new Client() does not connect. Write `await connect({ workers: 4 })`.');
    this.#engine = cluster.engine;
    this.#ownsCluster = ownsCluster;
    this.#held = new HeldHandles(this.#engine);
  }

  /**
   * Computes a Delayed, or several in one pass over the union of their graphs. Tasks with equal keys run once.
   * @returns (resolves) the result of a single Delayed, else an array of the results in the order of the arguments
   * @throws (rejects) the errors of `getThreaded`; LongpoleError ERR_LONGPOLE_CLOSED
   * @source Dask, `Client.compute`, which however returns futures
   */
  compute<T>(delayed: Delayed<T>, options?: SubmitOptions): Promise<T>;
  compute<const D extends readonly Delayed<unknown>[]>(
    delayeds: D,
    options?: SubmitOptions,
  ): Promise<Computed<D>>;
  compute<const D extends readonly Delayed<unknown>[]>(
    ...args: [...delayeds: D, options: SubmitOptions]
  ): Promise<Computed<D>>;
  compute<const D extends readonly Delayed<unknown>[]>(...delayeds: D): Promise<Computed<D>>;
  compute(...args: readonly unknown[]): Promise<unknown> {
    return this.call(async () => {
      const { list, isSingle, options } = delayedArguments('Client.compute', args);
      const call = { watchers: watchersForRun(), code: callingLine(this.compute) };
      const values = await this.#compute(list, options, call);
      return isSingle ? values[0] : values;
    });
  }

  /** @internal Implements `compute` with the given watchers. */
  computeWatched(
    list: readonly Delayed<unknown>[],
    options: SubmitOptions,
    watchers: readonly RunWatcher[],
  ): Promise<unknown[]> {
    const call = { watchers, code: callingLine(this.computeWatched) };
    return this.call(() => this.#compute(list, options, call));
  }

  async #compute(
    list: readonly Delayed<unknown>[],
    options: SubmitOptions,
    call: Omit<WatchedCall, 'called'>,
  ): Promise<unknown[]> {
    const called = this.#engine.clock();
    const policy = submitPolicy('Client.compute', options);
    const stages = annotatedStages(list);
    if (stages.length === 0) {
      const keys = list.map(({ key }) => key);
      return this.#collect(compilePlan(this.#engine, list), keys, policy, { called, ...call });
    }
    const persist = (part: readonly Delayed<unknown>[], own: SubmitOptions): Future<unknown>[] =>
      this.#persist(part, submitPolicy('Client.compute', own), call.code);
    const futures = persistStages(list, options, persist, stages);
    return this.gather(futures).finally(() => {
      for (const future of futures) future.release();
    });
  }

  /**
   * Computes keys of a graph in Dask's form.
   * @param keys one key, or arrays of keys nested to any depth
   * @returns (resolves) the results in the shape of `keys`
   * @throws (rejects) the errors of `compute`
   * @source Dask, `Client.get`
   */
  get<R = unknown>(graph: Graph, keys: Keys, options?: SubmitOptions): Promise<R>;
  get(graph: Graph, keys: Keys, options: SubmitOptions = {}): Promise<unknown> {
    return this.call(async () => {
      const policy = submitPolicy('Client.get', options);
      const called = this.#engine.clock();
      const flat = flattenKeys(keys);
      const plan = compileGraph(graph, flat, {
        shared: this.#engine.options.threads,
        known: (key) => this.#engine.results.known(key),
      });
      const call = { called, watchers: watchersForRun(), code: callingLine(this.get) };
      const values = await this.#collect(plan, flat, policy, call);
      const byKey = new Map(flat.map((key, index) => [key, values[index]]));
      return shapeLike(keys, (key) => byKey.get(key));
    });
  }

  /**
   * Starts a computation. The results stay on the workers.
   * @returns a future of a single Delayed, else an array of futures in the order of the arguments
   * @throws LongpoleError ERR_LONGPOLE_CLOSED, and the errors of `getThreaded` for a graph that cannot be run
   * @source Dask, `Client.persist`
   */
  persist<T>(delayed: Delayed<T>, options?: SubmitOptions): Future<T>;
  persist<const D extends readonly Delayed<unknown>[]>(delayeds: D, options?: SubmitOptions): Persisted<D>;
  persist<const D extends readonly Delayed<unknown>[]>(
    ...args: [...delayeds: D, options: SubmitOptions]
  ): Persisted<D>;
  persist<const D extends readonly Delayed<unknown>[]>(...delayeds: D): Persisted<D>;
  persist(...args: readonly unknown[]): Future<unknown> | Future<unknown>[] {
    this.check();
    const { list, isSingle, options } = delayedArguments('Client.persist', args);
    const code = callingLine(this.persist);
    const futures = persistStages(list, options, (part, own) =>
      this.#persist(part, submitPolicy('Client.persist', own), code),
    );
    return isSingle ? futures[0]! : futures;
  }

  #persist(list: readonly Delayed<unknown>[], policy: SubmitPolicy, code: string): Future<unknown>[] {
    const handles = this.#start(list, policy, { called: this.#engine.clock(), code });
    return list.map(({ key }, index) => new Future<unknown>(this.#owner, key, handles[index]!));
  }

  #start(list: readonly Delayed<unknown>[], policy: SubmitPolicy, call: Call): ResultHandle[] {
    const plan = compilePlan(this.#engine, list);
    const computation = this.#add(plan, policy, call);
    const handles = list.map(({ key }) => this.#engine.results.of(computation, plan.ids.get(key)!));
    cancelOnAbort(policy.signal, handles, (reason) => {
      const { size, unfinished } = computation.segment;
      this.#engine.results.cancel(handles, abortedError(reason, size - unfinished, size));
    });
    return handles;
  }

  /**
   * Submits a call of a function as a task. Arguments may be futures, or contain futures; the function receives their
   * results. A plain object as the last argument counts as options if it has only names of options.
   * @returns a future of the result
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_CLOSED. Other errors are errors of the future
   * @source Dask, `Client.submit`
   */
  submit<F extends AnyFunction>(
    fn: Callable<F>,
    ...args: Inputs<Parameters<F>>
  ): Future<Awaited<ReturnType<F>>>;
  submit<F extends AnyFunction>(
    fn: Callable<F>,
    ...args: [...Inputs<Parameters<F>>, SubmitOptions]
  ): Future<Awaited<ReturnType<F>>>;
  submit(fn: unknown, ...args: readonly unknown[]): Future<unknown> {
    this.check();
    return submitCall(this.#submitter, fn, args, () => callingLine(this.submit));
  }

  /**
   * Submits a call of a function for each element of an iterable. With several iterables, each call receives one
   * element of each, up to the end of the shortest.
   * @returns an array of one future per call
   * @throws LongpoleError as `submit`
   * @source Dask, `Client.map`
   */
  map<A, R>(
    fn: TaskFunction<(item: A) => R>,
    items: Iterable<A | Future<A>>,
    options?: SubmitOptions,
  ): Future<Awaited<R>>[];
  map<A, R>(
    fn: (item: A) => R,
    items: Iterable<A | Future<A>>,
    options?: SubmitOptions,
  ): Future<Awaited<R>>[];
  map<F extends AnyFunction>(
    fn: Callable<F>,
    ...iterables: Iterables<Parameters<F>>
  ): Future<Awaited<ReturnType<F>>>[];
  map<F extends AnyFunction>(
    fn: Callable<F>,
    ...iterables: [...Iterables<Parameters<F>>, SubmitOptions]
  ): Future<Awaited<ReturnType<F>>>[];
  map(fn: unknown, ...args: readonly unknown[]): Future<unknown>[] {
    this.check();
    return mapCalls(this.#submitter, fn, args, () => callingLine(this.map));
  }

  /**
   * Fetches the results of one future, or of futures in nested arrays and plain objects.
   * @returns (resolves) the same shape with each future replaced by its result
   * @throws (rejects) the error of the first failed future. With `errors: 'skip'`, its place is undefined instead
   * @source Dask, `Client.gather`
   */
  gather<const T>(futures: T, options?: GatherOptions & { errors?: 'raise' }): Promise<Gathered<T>>;
  gather<const T>(futures: T, options: GatherOptions): Promise<Gathered<T, undefined>>;
  gather(futures: unknown, options: GatherOptions = {}): Promise<unknown> {
    return this.call(async () => {
      checkOptions('Client.gather', options, GATHER_OPTIONS);
      this.#submissions.flush();
      const gathered = gatherNested(futures, options.errors ?? 'raise', this.#owner.fetch);
      return this.#engine.waits.during('Client.gather', '', gathered, futures);
    });
  }

  /**
   * Copies values to the workers: each value to one worker, or with `broadcast` to every worker.
   * @returns (resolves) a future, or for an array one future per element. The future of a single value has no `then`,
   *   because `await client.scatter(value)` would fetch the value again; use its `result()`
   * @throws (rejects) LongpoleError ERR_LONGPOLE_NOT_CLONEABLE if a value cannot be copied, ERR_LONGPOLE_WORKER_LOST if
   *   five workers in a row die, ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_CLOSED
   * @source Dask, `Client.scatter`
   */
  scatter<T>(values: readonly T[], options?: ScatterOptions): Promise<Future<T>[]>;
  scatter<T>(value: T, options?: ScatterOptions): Promise<ScatteredFuture<T>>;
  scatter(...args: readonly [value?: unknown, options?: ScatterOptions]): Promise<unknown> {
    const [value, options = {}] = args;
    return this.call(async () => {
      if (args.length === 0)
        throw invalid('Client.scatter: value', undefined, 'a value, or an array of values');
      checkOptions('Client.scatter', options, SCATTER_OPTIONS);
      const values = Array.isArray(value) ? value : [value];
      const scattered = this.tools.scatterValues(this.cluster, this.name, values, options);
      const handles = await this.#engine.waits.during('Client.scatter', `${values.length} values`, scattered);
      const futures = handles.map((handle) => new Future<unknown>(this.#owner, handle.key, handle));
      return Array.isArray(value) ? futures : notAwaitable(futures[0]!);
    });
  }

  /**
   * Cancels the tasks of futures, and discards their results, even if other futures of the same results exist.
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_FUTURE for a future of another cluster
   * @source Dask, `Client.cancel`
   */
  cancel(...futures: readonly (Future<unknown> | readonly Future<unknown>[])[]): void {
    this.#submissions.flush();
    const handles = futureList('Client.cancel', futures.flat()).flatMap(({ handle }) => handle ?? []);
    for (const handle of handles) this.#engine.results.checkOwner(handle);
    this.#engine.results.cancel(handles);
  }

  /** @internal Returns a future of a result that a shared object has given to this client. It has no `then`. */
  received(key: string): Future<unknown> {
    this.check();
    const caller = this.caller();
    return this.#engine.coordination.results.received(key, caller, (handle) =>
      notAwaitable(new Future<unknown>(this.#owner, key, handle)),
    );
  }

  /** Releases all futures of this client, and closes the cluster if `connect` has started it. */
  close(): Promise<void>;
  async close(...more: readonly unknown[]): Promise<void> {
    checkNoMore('Client.close', more, 'It returns a promise that resolves when the client is closed.');
    if (!this.beginClosing()) return;
    try {
      await this.runClosing();
    } finally {
      const closed = new LongpoleError(
        'ERR_LONGPOLE_CLOSED',
        'The client was closed, which releases its futures. Wait for their results before you close it.',
      );
      cuttingOff(this.#engine, 'client', false, () => this.#held.releaseAll(closed));
      if (this.#ownsCluster) await this.cluster.close();
    }
  }

  /** Returns a text such as `<Client 'client-1': 4 threads, 8 GB, http://127.0.0.1:8787/>`. */
  override toString(): string {
    return `<Client '${this.name}': ${this.isClosed ? 'closed' : this.cluster.summary}>`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #collect(
    plan: Plan,
    keys: readonly string[],
    policy: SubmitPolicy,
    { watchers, ...call }: WatchedCall,
  ): Promise<unknown[]> {
    const { signal } = policy;
    if (signal?.aborted) throw abortedError(signal.reason, 0, plan.program.size);
    const computation = this.#add(plan, policy, call);
    const collected = this.tools.collectResults(this.#engine, computation, { plan, keys, signal });
    const results = this.tools.watched(this.#engine, { computation, plan }, watchers, collected);
    return this.#engine.waits.during('Client.compute', keys[0] ?? '', results);
  }

  #add(
    plan: Plan,
    { policy, timeout }: SubmitPolicy,
    { called, prepared = called, code }: Call,
  ): ComputationState {
    this.#submissions.flush();
    return this.#engine.add({
      plan,
      functions: functionRefs(plan.functions, this.#engine.options.runsPython === true),
      client: this.name,
      policy,
      timeout,
      called,
      prepared,
      code,
      spans: this.#openedSpans(plan),
    });
  }

  #openedSpans({ spans }: Plan): Plan['spans'] {
    for (const [index, tags] of spans?.names.entries() ?? [])
      this.cluster.parts.measures.spans.opened(tags, spans?.code[index] ?? []);
    return spans;
  }
}
