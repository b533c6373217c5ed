// `asCompleted` and `wait`: iterates over futures in the order in which they end, and waits for several futures.
import {
  checkNoMore,
  checkOptions,
  FLAG,
  MAX_TIMER_SECONDS,
  type OptionKinds,
  oneOf,
  SECONDS,
} from '../../base/arguments.js';
import { Printed } from '../../base/printed.js';
import { countText } from '../../base/words.js';
import { within } from '../../engine/within.js';
import { type Future, futureList } from './future.js';

export interface AsCompletedOptions {
  /**
   * Whether items are pairs `[future, result]`. The iteration rejects with the error of a failed task. Default false.
   */
  readonly withResults?: boolean;
  /** Whether items are arrays of all futures that have ended since the last item. Default false. */
  readonly batches?: boolean;
}

type ResultOf<F extends Future<unknown>> = F extends Future<infer T> ? T : never;

const AS_COMPLETED_OPTIONS: OptionKinds<AsCompletedOptions> = { withResults: FLAG, batches: FLAG };

/** Asynchronous iterator over futures in the order in which they end. `Item` is the type of its items. */
export class AsCompleted<F extends Future<unknown>, Item> extends Printed {
  readonly #itemOf: (ended: F[]) => Promise<{ readonly value: Item }>;
  readonly #ended: F[] = [];
  #running = 0;
  /** Functions that resume the waiting calls of `next`. */
  readonly #wakers: (() => void)[] = [];

  /** @internal Use `asCompleted`. The item is in an object, because a promise of a future would wait for its result. */
  constructor(itemOf: (ended: F[]) => Promise<{ readonly value: Item }>) {
    super();
    this.#itemOf = itemOf;
  }

  /** Number of futures that the iteration has not returned yet. */
  get count(): number {
    return this.#running + this.#ended.length;
  }

  /** Adds futures, also while the iteration runs. */
  add(futures: F | Iterable<F>): void;
  add(futures: F | Iterable<F>, ...more: readonly unknown[]): void {
    checkNoMore('AsCompleted.add', more, 'Pass several futures in an array.');
    for (const future of futureList<F>('AsCompleted.add', futures)) this.#watch(future);
  }

  /** Returns a text such as `<AsCompleted: 3 futures>`. */
  override toString(): string {
    return `<AsCompleted: ${countText(this.count, 'future')}>`;
  }

  #watch(future: F): void {
    this.#running++;
    const ended = (): void => {
      this.#running--;
      this.#ended.push(future);
      // Every waiting call checks again, because the iteration may be over.
      for (const wake of this.#wakers.splice(0)) wake();
    };
    // A released future has ended, too.
    future.wait().then(ended, ended);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Returns the next item. The iteration is over when no future is left. */
  async next(): Promise<IteratorResult<Item, undefined>> {
    while (this.#ended.length === 0) {
      if (this.#running === 0) return { done: true, value: undefined };
      await new Promise<void>((resolve) => this.#wakers.push(resolve));
    }
    return { done: false, ...(await this.#itemOf(this.#ended)) };
  }
}

/**
 * Iterates over futures in the order in which they end, with a result or an error. `add` adds futures during the
 * iteration.
 *
 *     const ended = asCompleted(futures);
 *     for await (const future of ended) if (await isWrong(future)) ended.add(client.submit(again));
 *
 * @returns an asynchronous iterable of futures; with `withResults` of pairs, with `batches` of arrays
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT; with `withResults`, the iteration rejects with the error of a
 *   failed task
 * @source Dask, `distributed.as_completed`
 */
export function asCompleted<F extends Future<unknown>>(
  futures: F | Iterable<F>,
  options: { readonly withResults: true; readonly batches: true },
): AsCompleted<F, [F, ResultOf<F>][]>;
export function asCompleted<F extends Future<unknown>>(
  futures: F | Iterable<F>,
  options: { readonly withResults: true; readonly batches?: false },
): AsCompleted<F, [F, ResultOf<F>]>;
export function asCompleted<F extends Future<unknown>>(
  futures: F | Iterable<F>,
  options: { readonly withResults?: false; readonly batches: true },
): AsCompleted<F, F[]>;
export function asCompleted<F extends Future<unknown>>(
  futures: F | Iterable<F>,
  options?: { readonly withResults?: false; readonly batches?: false },
): AsCompleted<F, F>;
export function asCompleted<F extends Future<unknown>>(
  futures: F | Iterable<F>,
  options: AsCompletedOptions = {},
): AsCompleted<F, unknown> {
  checkOptions('asCompleted()', options, AS_COMPLETED_OPTIONS);
  const { withResults = false, batches = false } = options;
  const pair = async (future: F): Promise<[F, unknown]> => [future, await future.result()];
  const completed = new AsCompleted<F, unknown>(async (ended) => {
    const taken = ended.splice(0, batches ? ended.length : 1);
    const items = withResults ? await Promise.all(taken.map(pair)) : taken;
    return { value: batches ? items : items[0] };
  });
  completed.add(futures);
  return completed;
}

export interface WaitOptions {
  /** Time limit in seconds, after which the call returns. Default: no limit, as with Infinity. */
  readonly timeout?: number;
  /** Whether to wait for all futures, or for the first one that ends. Default `all`. */
  readonly returnWhen?: 'all' | 'first';
}

const WAIT_OPTIONS: OptionKinds<WaitOptions> = { timeout: SECONDS, returnWhen: oneOf(['all', 'first']) };

/** Result of `wait`. Both arrays have the order of the call. */
export interface Waited<F extends Future<unknown>> {
  /** Futures that have a result or an error, or were cancelled. */
  readonly done: F[];
  readonly notDone: F[];
}

/**
 * Waits until futures have a result or an error, or were cancelled. Does not fetch results.
 *
 *     const { done, notDone } = await wait(futures, { timeout: 10 });
 *
 * @returns (resolves) the futures that have ended, and those that have not when the time limit is reached
 * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT; never the error of a task
 * @source Dask, `distributed.wait`, which however raises an error at the time limit
 */
export async function wait<F extends Future<unknown>>(
  futures: F | Iterable<F>,
  options: WaitOptions = {},
): Promise<Waited<F>> {
  checkOptions('wait()', options, WAIT_OPTIONS);
  const { timeout, returnWhen = 'all' } = options;
  const list = futureList<F>('wait()', futures);
  const ends = list.map((future) => future.wait().catch(() => undefined));
  // Without futures there is no first one to wait for.
  const ended = returnWhen === 'first' && ends.length > 0 ? Promise.race(ends) : Promise.all(ends);
  if (timeout === undefined || timeout === Number.POSITIVE_INFINITY) await ended;
  else await within(Math.min(timeout, MAX_TIMER_SECONDS) * 1000, ended);
  return { done: list.filter(({ done }) => done), notDone: list.filter(({ done }) => !done) };
}
