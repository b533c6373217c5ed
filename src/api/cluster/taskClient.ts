// The client inside a task: compiles graphs in the isolate of the task, and sends them to the process of the scheduler.
// servedTasks.ts answers. Every call that waits makes the task secede first, so that the awaited tasks have room.

import { checkOptions } from '../../base/arguments.js';
import { internalError, LongpoleError, unusableFuture } from '../../base/errors.js';
import { getOrMake } from '../../base/lookUps.js';
import { Printed } from '../../base/printed.js';
import { callingLine } from '../../diagnostics/callingLine.js';
import { type ResultStatus, releasedError } from '../../engine/cluster/computationState.js';
import { type TaskConnection, taskConnection } from '../../engine/worker/askScheduler.js';
import { packValue, unpackResult } from '../../engine/worker/packResult.js';
import { compileDelayed, compileGraph, type Plan } from '../../graph/compile.js';
import type { Delayed } from '../../graph/delayed.js';
import { External } from '../../graph/external.js';
import { flattenKeys, shapeLike } from '../../graph/nestedKeys.js';
import { fromErrorInfo } from '../../protocol/errorInfo.js';
import type { Graph, Keys } from '../../protocol/graph.js';
import { delayedArguments } from '../argumentChecks.js';
import { cancelOnAbort } from './cancelOnAbort.js';
import { Client } from './client.js';
import { SCATTER_OPTIONS, type ScatterOptions, type SubmitOptions, submitPolicy } from './clientOptions.js';
import { Future, type FutureHandle, type FutureOwner, futureList, notAwaitable } from './future.js';
import { GATHER_OPTIONS, type GatherOptions, gatherNested } from './gather.js';
import { PendingSubmissions } from './pendingSubmissions.js';
import { persistStages } from './persistStages.js';
import { shipPlan } from './shippedPlan.js';
import { mapCalls, type Submitter, submitCall } from './submitCall.js';

/**
 * The client of a task, returned by `getClient()`. Its calls are those of `Client`, and a call that waits makes the task
 * secede. Its futures are released when the task ends. Submitted work runs to its end, unless the task is cancelled or its
 * worker dies.
 *
 * @source Dask, `distributed.get_client`
 */
export interface TaskClient
  extends Pick<
    Client,
    'submit' | 'map' | 'persist' | 'compute' | 'get' | 'gather' | 'scatter' | 'cancel' | 'toString'
  > {}

const none = (): undefined => undefined;

/** Whether the value implements the interface. The class below has the methods without their overloads. */
export function isTaskClient(value: unknown): value is TaskClient {
  return value instanceof RunningTaskClient;
}

export class RunningTaskClient extends Printed {
  // The microtask that submits would run after the end of a function without `await`.
  readonly #connection: TaskConnection = taskConnection(() => this.#submissions.flush());
  readonly #owner: FutureOwner = {
    flush: () => this.#submissions.flush(),
    fetch: (handles) => this.#fetch(handles),
    awaiting: (_call, _future, work) => this.#connection.awaited(work),
    untilClosed: (call) => call,
    hold: (handle) => {
      taskHandle(handle).references++;
    },
    release: (handle) => this.#release(taskHandle(handle)),
    cancel: (handles) => this.#cancel(handles.map(taskHandle)),
  };
  readonly #submissions: PendingSubmissions;
  readonly #submitter: Submitter;
  /** The newest result of each key that has futures here. */
  readonly #byKey = new Map<string, TaskHandle>();
  #next = 1;

  constructor() {
    super();
    const submissions = new PendingSubmissions(
      () => Number.NaN,
      (list, options, { code }) => this.#start(list, options, code),
    );
    this.#submissions = submissions;
    this.#submitter = { submissions, owner: this.#owner, known: this.#known };
  }

  submit(fn: unknown, ...args: readonly unknown[]): Future<unknown> {
    return submitCall(this.#submitter, fn, args, () => callingLine(this.submit));
  }

  map(fn: unknown, ...args: readonly unknown[]): Future<unknown>[] {
    return mapCalls(this.#submitter, fn, args, () => callingLine(this.map));
  }

  persist(...args: readonly unknown[]): Future<unknown> | Future<unknown>[] {
    const { list, isSingle, options } = delayedArguments('persist()', args);
    const futures = this.#persist(list, options, callingLine(this.persist));
    return isSingle ? futures[0]! : futures;
  }

  async compute(...args: readonly unknown[]): Promise<unknown> {
    const code = callingLine(this.compute);
    const { list, isSingle, options } = delayedArguments('compute()', args);
    const values = await this.#taken(this.#persist(list, options, code));
    return isSingle ? values[0] : values;
  }

  async get(graph: Graph, keys: Keys, options: SubmitOptions = {}): Promise<unknown> {
    const code = callingLine(this.get);
    const flat = flattenKeys(keys);
    const plan = compileGraph(graph, flat, { known: this.#known });
    const wanted = [...new Set(flat)].filter((key) => plan.ids.has(key));
    const futures = this.#futures(wanted, this.#add(plan, wanted, options, code));
    const values = await this.#taken(futures);
    const byKey = new Map(wanted.map((key, index) => [key, values[index]]));
    return shapeLike(keys, (key) => (byKey.has(key) ? byKey.get(key) : plan.data.get(key)));
  }

  /** Fetches the results of futures, and releases the futures. */
  async #taken(futures: readonly Future<unknown>[]): Promise<unknown[]> {
    try {
      return await this.#fetch(futures.map((future) => future.usable()));
    } finally {
      for (const future of futures) future.release();
    }
  }

  async gather(futures: unknown, options: GatherOptions = {}): Promise<unknown> {
    checkOptions('gather()', options, GATHER_OPTIONS);
    this.#submissions.flush();
    return this.#connection.awaited(
      gatherNested(futures, options.errors ?? 'raise', (handles) => this.#fetch(handles)),
    );
  }

  async scatter(value: unknown, options: ScatterOptions = {}): Promise<unknown> {
    checkOptions('scatter()', options, SCATTER_OPTIONS);
    const values = (Array.isArray(value) ? value : [value]).map((one) =>
      packValue(one, 'A value of scatter()'),
    );
    const numbers = values.map(() => this.#next++);
    const { keys } = await this.#connection.awaited(
      this.#connection.ask('scatter', { futures: numbers, values, options }),
    );
    const handles = keys.map((key, index) => new TaskHandle(key, numbers[index]!, this.#connection));
    const futures = this.#futures(keys, handles);
    return Array.isArray(value) ? futures : notAwaitable(futures[0]!);
  }

  /** @internal Returns a future of a result that a shared object has given to the task. It has no `then`. */
  received(key: string): Future<unknown> {
    const handle = new TaskHandle(key, this.#next++, this.#connection);
    this.#connection.ask('receive', { future: handle.number, key }).catch(none);
    this.#byKey.set(key, handle);
    return notAwaitable(this.#futures([key], [handle])[0]!);
  }

  cancel(...futures: readonly (Future<unknown> | readonly Future<unknown>[])[]): void {
    this.#submissions.flush();
    const list = futureList('cancel()', futures.flat());
    this.#cancel(list.map((future) => taskHandle(future.usable())));
  }

  override toString(): string {
    return '<TaskClient>';
  }

  readonly #known = (key: string): TaskHandle | undefined => {
    const handle = this.#byKey.get(key);
    return handle === undefined || handle.isFailed ? undefined : handle;
  };

  #persist(list: readonly Delayed<unknown>[], options: SubmitOptions, code: string): Future<unknown>[] {
    const persist = (part: readonly Delayed<unknown>[], own: SubmitOptions): Future<unknown>[] => {
      this.#submissions.flush();
      const keys = part.map(({ key }) => key);
      return this.#futures(keys, this.#start(part, own, code));
    };
    return persistStages(list, options, persist);
  }

  #start(list: readonly Delayed<unknown>[], options: SubmitOptions, code: string): TaskHandle[] {
    const plan = compileDelayed(list, { known: this.#known });
    return this.#add(
      plan,
      list.map(({ key }) => key),
      options,
      code,
    );
  }

  /** Sends a plan. Returns the handles of the wanted keys. */
  #add(plan: Plan, keys: readonly string[], options: SubmitOptions, code: string): TaskHandle[] {
    submitPolicy('submit()', options);
    const { signal, key: _key, pure: _pure, ...own } = options;
    const created = new Map<number, TaskHandle>();
    const handles = keys.map((key) => {
      const local = plan.ids.get(key);
      if (local === undefined) throw internalError(`The plan of a task has no task '${key}'.`);
      const external = plan.imports.get(local);
      if (external !== undefined) return handleOf(external);
      return getOrMake(created, local, () => new TaskHandle(key, this.#next++, this.#connection));
    });
    const shipped = shipPlan(plan, (external) => handleOf(external).number);
    const futures = Array.from(created, ([local, { number }]) => ({ local, future: number }));
    // The answer of a later question about these futures has the error of the submission.
    this.#connection.ask('submit', { plan: shipped, futures, options: own, code }).catch(none);
    for (const handle of created.values()) this.#byKey.set(handle.key, handle);
    const submitted = [...created.values()];
    cancelOnAbort(signal, submitted, () => this.#cancel(submitted));
    return handles;
  }

  #futures(keys: readonly string[], handles: readonly TaskHandle[]): Future<unknown>[] {
    return keys.map((key, index) => new Future<unknown>(this.#owner, key, handles[index]!));
  }

  async #fetch(handles: readonly FutureHandle[]): Promise<unknown[]> {
    if (handles.length === 0) return [];
    const futures = handles.map((handle) => taskHandle(handle).number);
    const { results } = await this.#connection.awaited(this.#connection.ask('fetch', { futures }));
    for (const handle of handles) taskHandle(handle).finished();
    return results.map(unpackResult);
  }

  #cancel(handles: readonly TaskHandle[]): void {
    for (const handle of handles) handle.cancelled();
    this.#connection.ask('cancel', { futures: handles.map(({ number }) => number) }).catch(none);
  }

  #release(handle: TaskHandle): void {
    if (--handle.references > 0) return;
    // Pending submissions may use the result.
    this.#submissions.flush();
    if (this.#byKey.get(handle.key) === handle) this.#byKey.delete(handle.key);
    handle.cancelled();
    this.#connection.ask('release', { futures: [handle.number] }).catch(none);
  }
}

/** Makes every other call of a client throw, because a program in JavaScript may use it. */
function refuseOtherCalls(): void {
  for (let from: object = Client.prototype; from !== Object.prototype; from = Object.getPrototypeOf(from))
    for (const name of Reflect.ownKeys(from)) {
      if (name in RunningTaskClient.prototype) continue;
      const refuse = (): never => {
        throw otherCallError(typeof name === 'string' ? name : 'close');
      };
      const isMethod = Object.getOwnPropertyDescriptor(from, name)?.get === undefined;
      Object.defineProperty(
        RunningTaskClient.prototype,
        name,
        isMethod ? { value: refuse } : { get: refuse },
      );
    }
}

refuseOtherCalls();

function otherCallError(name: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_TASK_CLIENT',
    `The client of a task has no '${name}'. Use it in the program that has called connect(). ` +
      'A task submits work, gathers results, and scatters data.',
  );
}

function handleOf(external: External): TaskHandle {
  if (external instanceof TaskHandle) return external;
  if (external instanceof Future) return taskHandle(external.usable());
  throw foreignError(external.key);
}

function taskHandle(handle: FutureHandle): TaskHandle {
  if (handle instanceof TaskHandle) return handle;
  throw foreignError('of another client');
}

function foreignError(key: string): LongpoleError {
  return unusableFuture(
    `The future '${key}' does not belong to the client of this task. Use futures of getClient() in the task that made them.`,
  );
}

/** A result on the cluster. The process of the scheduler holds the result under the same number; see servedTasks.ts. */
class TaskHandle extends External implements FutureHandle {
  readonly number: number;
  /** Number of futures of this result. */
  references = 0;
  readonly #connection: TaskConnection;
  #status: ResultStatus = 'pending';
  error: unknown;
  #settled: Promise<void> | undefined;

  constructor(key: string, number: number, connection: TaskConnection) {
    super(key);
    this.number = number;
    this.#connection = connection;
  }

  /** The last known status. The first query of a pending result starts to watch it. */
  get status(): ResultStatus {
    if (!this.isSettled) void this.settled();
    return this.#status;
  }

  get isSettled(): boolean {
    return this.#status !== 'pending' && this.#status !== 'lost';
  }

  /** Whether the result is known to have failed or to be cancelled. */
  get isFailed(): boolean {
    return this.#status === 'error' || this.#status === 'cancelled';
  }

  /** Resolves when the result is available, has failed or was cancelled. Never rejects. */
  settled(): Promise<void> {
    this.#settled ??= this.#settle();
    return this.#settled;
  }

  finished(): void {
    this.#set('finished');
  }

  cancelled(): void {
    this.#set('cancelled', releasedError(this.key));
  }

  async #settle(): Promise<void> {
    try {
      const { ends } = await this.#connection.ask('settle', { futures: [this.number] });
      const [end] = ends;
      if (end !== undefined) this.#set(end.status, end.error && fromErrorInfo(end.error));
    } catch (error) {
      // The task has ended or was cancelled, and so its results are released.
      this.#set('cancelled', error);
    }
  }

  #set(status: ResultStatus, error?: unknown): void {
    if (this.isSettled) return;
    this.#status = status;
    this.error = error;
  }
}
