// `Future`: a handle for a present or future result on the workers of a cluster.

import { checkNoMore, invalid } from '../../base/arguments.js';
import { internalError, releaseStack, unusableFuture } from '../../base/errors.js';
import { INSPECT } from '../../base/printed.js';
import { visibleName } from '../../base/visibleText.js';
import { ResultHandle, type ResultStatus } from '../../engine/cluster/computationState.js';
import { untilClosed } from '../../engine/cluster/endedByClosing.js';
import { External } from '../../graph/external.js';

/** A result as a client knows it: a ResultHandle in the process of the scheduler, a TaskHandle inside a task. @internal */
export interface FutureHandle {
  readonly status: ResultStatus;
  /** The error that `result()` throws when the status is `error` or `cancelled`. */
  readonly error: unknown;
  readonly isSettled: boolean;
  settled(): Promise<void>;
}

/** The interface of a client for its futures. @internal */
export interface FutureOwner {
  /** Submits pending calls to the cluster, so that every future has a handle. */
  flush(): void;
  fetch(handles: readonly FutureHandle[]): Promise<unknown[]>;
  /**
   * Returns the outcome of `work`. Holds the future until then, so that it is not garbage-collected while a caller
   * waits.
   */
  awaiting<R>(call: string, future: External, work: Promise<R>): Promise<R>;
  /** Returns the outcome of a call of the future. A rejection because the client closes counts as handled. */
  untilClosed<R>(call: Promise<R>): Promise<R>;
  /** Adds a reference to a result. */
  hold(handle: FutureHandle): void;
  /** Removes a reference to a result. */
  release(handle: FutureHandle): void;
  cancel(handles: readonly FutureHandle[]): void;
}

/**
 * Releases the results of garbage-collected futures. Such a future counts as a reference until its result is settled,
 * so that garbage collection never cancels tasks. See docs/decisions/dropped-futures.md.
 */
const dropped = new FinalizationRegistry<Held>(({ owner, handle }) => {
  if (handle !== undefined) void handle.settled().then(() => owner.release(handle));
});

const LIMIT_TIME = 'Limit the time of the wait with wait(future, { timeout }).';

/** The reference of a future to its result, which outlives the future. */
interface Held {
  readonly owner: FutureOwner;
  /** Undefined before the submission and after the release. */
  handle: FutureHandle | undefined;
}

/**
 * A handle for a result on a cluster, also while its task has not finished. The cluster keeps the result until every
 * future of it is released or garbage-collected, and no task needs it. Garbage collection of a future does not stop its
 * task. A future as an argument of a task is replaced by its result.
 *
 * @source Dask, `distributed.Future`
 */
export class Future<T> extends External implements PromiseLike<T> {
  readonly #held: Held;
  #bound: FutureHandle | undefined;
  #released = false;
  /** Error of the submission. */
  #failure: { readonly error: unknown } | undefined;

  /** @internal Use the methods of Client. */
  constructor(owner: FutureOwner, key: string, handle?: FutureHandle) {
    super(key);
    this.#held = { owner, handle: undefined };
    if (handle !== undefined) this.bind(handle);
    dropped.register(this, this.#held, this);
  }

  get #owner(): FutureOwner {
    return this.#held.owner;
  }

  get #handle(): FutureHandle | undefined {
    if (this.#bound === undefined && this.#failure === undefined) this.#owner.flush();
    return this.#bound;
  }

  /** @internal The handle of a client in the process of the scheduler. */
  get handle(): ResultHandle | undefined {
    const handle = this.#handle;
    return handle instanceof ResultHandle ? handle : undefined;
  }

  /** @internal */
  fail(error: unknown): void {
    releaseStack(error);
    this.#failure = { error };
  }

  /** @internal */
  bind(handle: FutureHandle): void {
    this.#owner.hold(handle);
    this.#bound = handle;
    this.#held.handle = handle;
  }

  /**
   * State of the result: `pending`, `finished`, `error`, `cancelled` (also if the future was released), or `lost` while
   * the result is computed again because its worker died.
   */
  get status(): ResultStatus {
    if (this.#released) return 'cancelled';
    const status = this.#handle?.status;
    return status ?? (this.#failure === undefined ? 'pending' : 'error');
  }

  /** Whether there is a result or an error, or the task was cancelled. */
  get done(): boolean {
    return this.status !== 'pending' && this.status !== 'lost';
  }

  /**
   * Waits for the result and fetches it.
   *
   * @returns (resolves) the result
   * @throws (rejects) TaskError if the task throws, KilledWorkerError if the task repeatedly ends its worker,
   *   LongpoleError ERR_LONGPOLE_FUTURE if the future was cancelled or released, ERR_LONGPOLE_CLOSED if its client or
   *   cluster was closed
   * @source Dask, `Future.result`
   */
  result(): Promise<T>;
  result(...more: readonly unknown[]): Promise<unknown> {
    return this.#owner.untilClosed(this.#result(more));
  }

  async #result(more: readonly unknown[]): Promise<unknown> {
    checkNoMore('Future.result', more, 'Limit the time of the task with the option timeout.');
    const [value] = await this.#owner.awaiting('Future.result', this, this.#owner.fetch([this.usable()]));
    return value;
  }

  /**
   * Makes the future awaitable: `await future` is `await future.result()`, and `Promise.all(futures)` fetches all
   * results. So an async function that returns a future resolves with its result. To return the future, put it into an
   * array or an object. See docs/decisions/awaitable-futures.md.
   */
  // biome-ignore lint/suspicious/noThenProperty: `await` looks for this name.
  then<A = T, B = never>(
    onResult?: ((value: T) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return untilClosed(() => this.result().then(onResult, onError));
  }

  /** Does the same as `result().catch(onError)`. */
  catch<B = never>(onError?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return untilClosed(() => this.result().catch(onError));
  }

  /** Does the same as `result().finally(onEnd)`. */
  finally(onEnd?: (() => void) | null): Promise<T> {
    return untilClosed(() => this.result().finally(onEnd));
  }

  /**
   * Waits until the task has ended.
   *
   * @returns (resolves) the error of the task, or undefined if it has a result
   * @throws (rejects) LongpoleError ERR_LONGPOLE_FUTURE if the future was released
   * @source Dask, `Future.exception`
   */
  exception(): Promise<unknown>;
  async exception(...more: readonly unknown[]): Promise<unknown> {
    checkNoMore('Future.exception', more, LIMIT_TIME);
    if (this.#handle === undefined && this.#failure !== undefined) return this.#failure.error;
    const handle = this.usable();
    while (!handle.isSettled) await this.#owner.awaiting('Future.exception', this, handle.settled());
    return handle.status === 'error' || handle.status === 'cancelled' ? handle.error : undefined;
  }

  /** Resolves when the task has ended, with a result or an error, or was cancelled. */
  wait(): Promise<void>;
  async wait(...more: readonly unknown[]): Promise<void> {
    checkNoMore('Future.wait', more, LIMIT_TIME);
    if (this.#handle !== undefined || this.#failure === undefined)
      await this.#owner.awaiting('Future.wait', this, this.usable().settled());
  }

  /** Cancels the task, and discards its result, even if other futures of the same result exist. */
  cancel(): void;
  cancel(...more: readonly unknown[]): void {
    checkNoMore('Future.cancel', more, 'It cancels this future only. Client.cancel takes several.');
    const handle = this.#handle;
    if (handle !== undefined && !this.#released) this.#owner.cancel([handle]);
  }

  /**
   * Releases the result. The workers discard it when it has no other future and no task needs it. A task without a
   * result is then cancelled.
   */
  release(): void;
  release(...more: readonly unknown[]): void {
    checkNoMore('Future.release', more, 'It releases this future only.');
    const handle = this.#handle;
    if (this.#released) return;
    this.#released = true;
    dropped.unregister(this);
    // V8 keeps removed entries of the registry until the next full garbage collection.
    this.#held.handle = undefined;
    if (handle !== undefined) this.#owner.release(handle);
  }

  [Symbol.dispose](): void {
    this.release();
  }

  override toString(): string {
    return `<Future ${this.status} ${visibleName(this.key)}>`;
  }

  [INSPECT](): string {
    return this.toString();
  }

  /** @internal Returns the handle of a client in the process of the scheduler. */
  live(): ResultHandle {
    return resultHandle(this.usable());
  }

  /** @internal */
  usable(): FutureHandle {
    const handle = this.#handle;
    if (this.#released)
      throw unusableFuture(
        `The future '${this.key}' was released. Keep a future until its last use, or submit its task again.`,
      );
    if (this.#failure !== undefined) throw this.#failure.error;
    if (handle === undefined) throw internalError(`The future '${this.key}' was never submitted.`);
    return handle;
  }
}

/** @throws LongpoleError ERR_LONGPOLE_FUTURE for a future of a task. @internal */
export function resultHandle(handle: FutureHandle): ResultHandle {
  if (handle instanceof ResultHandle) return handle;
  throw unusableFuture(
    'A future of getClient() cannot be used with another client. Use it in the task that made it.',
  );
}

/**
 * The future of a single value of `scatter`. It has no `then`, so that `await client.scatter(value)` returns the
 * future.
 */
export type ScatteredFuture<T> = Future<T> & { readonly then: never };

/** Removes `then` from a future, so that `await` returns the future itself. */
export function notAwaitable<T>(future: Future<T>): Future<T> {
  return Object.defineProperty(future, 'then', { value: undefined });
}

/**
 * Returns one future or several as an array.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for anything else
 */
export function futureList<F extends Future<unknown>>(where: string, given: F | Iterable<F>): readonly F[] {
  const isFuture = (one: unknown): one is F => one instanceof Future;
  if (isFuture(given)) return [given];
  if (typeof given !== 'object' || given === null || !(Symbol.iterator in given))
    throw invalid(`${where}: futures`, given, 'a Future, or an array of them');
  const list: readonly unknown[] = [...given];
  for (const one of list)
    if (!isFuture(one)) throw invalid(`${where}: futures`, one, 'a Future, or an array of them');
  return list.filter(isFuture);
}
