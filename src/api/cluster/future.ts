// A Future: a result that lives on the workers of a cluster, or will.

import { checkNoMore, invalid } from '../../base/arguments.js';
import { LongpoleError, releaseFrames } from '../../base/errors.js';
import { INSPECT } from '../../base/printed.js';
import type { ResultHandle, ResultStatus } from '../../engine/cluster/computationState.js';
import { External } from '../../graph/external.js';

/** What a future needs of its client. @internal */
export interface FutureOwner {
  /** Hands the submissions that wait to the cluster, so that every future has its handle. */
  flush(): void;
  fetch(handles: readonly ResultHandle[]): Promise<unknown[]>;
  /** Waits with the future held, so that the garbage collector does not take one whose result a caller waits for. */
  awaiting<R>(call: string, future: External, work: Promise<R>): Promise<R>;
  /** The outcome of a call of the future. Its rejection counts as handled if closing the client causes it. */
  untilClosed<R>(call: Promise<R>): Promise<R>;
  /** One future more, or less, stands for it. */
  hold(handle: ResultHandle): void;
  letGo(handle: ResultHandle): void;
  cancel(handles: readonly ResultHandle[]): void;
}

/**
 * Releases the results of futures that the garbage collector took. A collected future counts as a reference until its
 * result is settled, so that no work is cancelled because the collector ran. See docs/decisions/dropped-futures.md.
 */
const dropped = new FinalizationRegistry<{ owner: FutureOwner; held: Held }>(({ owner, held }) => {
  const { handle } = held;
  if (handle !== undefined && !held.released) void handle.settled().then(() => owner.letGo(handle));
});

interface Held {
  handle: ResultHandle | undefined;
  released: boolean;
  /** It could not even be submitted. */
  failure: { readonly error: unknown } | undefined;
}

/**
 * A result on the cluster. It stays there as long as a future stands for it: `release()` lets it go, and so does the
 * garbage collector, some time after the program has dropped the future. Submitted work runs to its end whether or not
 * its future is held: the collector releases finished results only. As an argument of a task it stands for its result.
 *
 * @source Dask, `distributed.Future`
 */
export class Future<T> extends External implements PromiseLike<T> {
  readonly #owner: FutureOwner;
  readonly #held: Held = { handle: undefined, released: false, failure: undefined };

  /** @internal Made by a Client. */
  constructor(owner: FutureOwner, key: string, handle?: ResultHandle) {
    super(key);
    this.#owner = owner;
    if (handle !== undefined) this.bind(handle);
    dropped.register(this, { owner, held: this.#held }, this);
  }

  /** @internal */
  get handle(): ResultHandle | undefined {
    if (this.#held.handle === undefined && this.#held.failure === undefined) this.#owner.flush();
    return this.#held.handle;
  }

  /** @internal */
  fail(error: unknown): void {
    // Its stack may hold this very future, and the finalizer holds the failure.
    releaseFrames(error);
    this.#held.failure = { error };
  }

  /** @internal */
  bind(handle: ResultHandle): void {
    this.#owner.hold(handle);
    this.#held.handle = handle;
  }

  /** `lost`: its worker died, and it is being computed again. */
  get status(): ResultStatus {
    if (this.#held.released) return 'cancelled';
    const status = this.handle?.status;
    return status ?? (this.#held.failure === undefined ? 'pending' : 'error');
  }

  /** The computation is over: there is a result, an error, or it was cancelled. */
  get done(): boolean {
    return this.status !== 'pending' && this.status !== 'lost';
  }

  /**
   * The result, brought to this thread.
   *
   * @throws (rejects) TaskError, KilledWorkerError, or LongpoleError ERR_LONGPOLE_FUTURE if it was cancelled or released
   */
  result(): Promise<T>;
  result(...more: readonly unknown[]): Promise<unknown> {
    return this.#owner.untilClosed(this.#result(more));
  }

  async #result(more: readonly unknown[]): Promise<unknown> {
    checkNoMore('Future.result', more, 'Limit the time of the task with the option timeout.');
    const [value] = await this.#owner.awaiting('Future.result', this, this.#owner.fetch([this.live()]));
    return value;
  }

  /**
   * Makes the future awaitable: `await future` is `await future.result()`, and `Promise.all(futures)` waits for all results. An
   * async function that returns a future therefore resolves with its result; return it in an array or an object to hand
   * on the future itself. See docs/decisions/awaitable-futures.md.
   */
  // biome-ignore lint/suspicious/noThenProperty: `await` looks for this name.
  then<A = T, B = never>(
    onResult?: ((value: T) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.result().then(onResult, onError);
  }

  /** As the `catch` of the promise `result()`. */
  catch<B = never>(onError?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.result().catch(onError);
  }

  /** As the `finally` of the promise `result()`. */
  finally(onEnd?: (() => void) | null): Promise<T> {
    return this.result().finally(onEnd);
  }

  /** Why the task failed, or undefined if it has a result. Resolves when either is known. */
  async exception(): Promise<unknown> {
    if (this.handle === undefined && this.#held.failure !== undefined) return this.#held.failure.error;
    const handle = this.live();
    await this.#owner.awaiting('Future.exception', this, handle.settled());
    return handle.status === 'error' || handle.status === 'cancelled' ? handle.error : undefined;
  }

  /** Resolves when the computation is over, whether it has a result or not. */
  async wait(): Promise<void> {
    if (this.handle !== undefined || this.#held.failure === undefined)
      await this.#owner.awaiting('Future.wait', this, this.live().settled());
  }

  /** The task is not run, or its result is not kept, whoever else holds a future of it. */
  cancel(): void {
    const { handle } = this;
    if (handle !== undefined && !this.#held.released) this.#owner.cancel([handle]);
  }

  /**
   * Releases the result. It leaves the workers when no other future stands for it and no task needs it. If there is no result
   * yet, the task is not run.
   */
  release(): void {
    const { handle } = this;
    if (this.#held.released) return;
    this.#held.released = true;
    dropped.unregister(this);
    if (handle !== undefined) this.#owner.letGo(handle);
  }

  [Symbol.dispose](): void {
    this.release();
  }

  override toString(): string {
    return `<Future ${this.status} ${this.key}>`;
  }

  [INSPECT](): string {
    return this.toString();
  }

  /** @internal */
  live(): ResultHandle {
    const { handle } = this;
    if (this.#held.released)
      throw new LongpoleError('ERR_LONGPOLE_FUTURE', `The future '${this.key}' was released.`);
    if (this.#held.failure !== undefined) throw this.#held.failure.error;
    if (handle === undefined)
      throw new LongpoleError('ERR_LONGPOLE_INTERNAL', `The future '${this.key}' was never submitted.`);
    return handle;
  }
}

/** What `scatter` gives for one value: a future that is not awaitable, so that `await client.scatter(value)` gives it. */
export type ScatteredFuture<T> = Future<T> & { readonly then: never };

/** The same future, which `await` does not look into. */
export function notAwaitable<T>(future: Future<T>): Future<T> {
  return Object.defineProperty(future, 'then', { value: undefined });
}

/**
 * One future or several, as an array.
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
