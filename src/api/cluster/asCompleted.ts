// Futures as they end, and waiting for several of them.
import {
  checkOptions,
  FLAG,
  MAX_TIMER_SECONDS,
  type OptionKinds,
  oneOf,
  SECONDS,
} from '../../base/arguments.js';
import { type Future, futureList } from './future.js';

export interface AsCompletedOptions {
  /** Gives pairs `[future, result]`. The iteration ends with the error of a task that failed. Default false. */
  readonly withResults?: boolean;
  /** Gives arrays: all that have ended since the last one. Default false. */
  readonly batches?: boolean;
}

/** What a future brings. */
type ResultOf<F extends Future<unknown>> = F extends Future<infer T> ? T : never;

const AS_COMPLETED_OPTIONS: OptionKinds<AsCompletedOptions> = { withResults: FLAG, batches: FLAG };

/** Futures in the order in which they end. `Item` is what one step of the iteration gives. */
export class AsCompleted<F extends Future<unknown>, Item> {
  readonly #itemOf: (ended: F[]) => Promise<{ readonly value: Item }>;
  readonly #ended: F[] = [];
  #running = 0;
  /** Of the calls of `next` that wait. */
  readonly #wakers: (() => void)[] = [];

  /** @internal Made by `asCompleted`. The item is in an object, because a promise would look into a future. */
  constructor(itemOf: (ended: F[]) => Promise<{ readonly value: Item }>) {
    this.#itemOf = itemOf;
  }

  /** How many futures have not been given yet. */
  get count(): number {
    return this.#running + this.#ended.length;
  }

  /** Adds futures, also while the iteration runs. */
  add(futures: F | Iterable<F>): void {
    for (const future of futureList<F>('AsCompleted.add', futures)) this.#watch(future);
  }

  #watch(future: F): void {
    this.#running++;
    const ended = (): void => {
      this.#running--;
      this.#ended.push(future);
      // There may be nothing left for those that come later: they see that, too.
      for (const wake of this.#wakers.splice(0)) wake();
    };
    // A future that was released has ended, too.
    future.wait().then(ended, ended);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next item; the iteration is over when no future is left. */
  async next(): Promise<IteratorResult<Item, undefined>> {
    while (this.#ended.length === 0) {
      if (this.#running === 0) return { done: true, value: undefined };
      await new Promise<void>((resolve) => this.#wakers.push(resolve));
    }
    return { done: false, ...(await this.#itemOf(this.#ended)) };
  }
}

/**
 * Gives futures in the order in which they end, whether they have a result or an error. More can be added meanwhile.
 *
 *     const ended = asCompleted(futures);
 *     for await (const future of ended) if (await isWrong(future)) ended.add(client.submit(again));
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT; the iteration rejects with the error of a task if `withResults` is set
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
  /** Seconds after which the call returns what has ended until then. Default: no limit, as with Infinity. */
  readonly timeout?: number;
  /** `first`: until one of them has ended. Default `all`. */
  readonly returnWhen?: 'all' | 'first';
}

const WAIT_OPTIONS: OptionKinds<WaitOptions> = { timeout: SECONDS, returnWhen: oneOf(['all', 'first']) };

/** Futures that have ended, with a result or an error, and those that have not, each in the order of the call. */
export interface Waited<F extends Future<unknown>> {
  readonly done: F[];
  readonly notDone: F[];
}

/**
 * Waits until futures have ended: with a result, an error, or because they were cancelled. Never brings a result here.
 *
 *     const { done, notDone } = await wait(futures, { timeout: 10 });
 *
 * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT; not the error of a task
 * @source Dask, `distributed.wait`, which raises an error after the timeout
 */
export async function wait<F extends Future<unknown>>(
  futures: F | Iterable<F>,
  options: WaitOptions = {},
): Promise<Waited<F>> {
  checkOptions('wait()', options, WAIT_OPTIONS);
  const { timeout, returnWhen = 'all' } = options;
  const list = futureList<F>('wait()', futures);
  const ends = list.map((future) => future.wait().catch(() => undefined));
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    if (timeout !== undefined && timeout !== Number.POSITIVE_INFINITY)
      timer = setTimeout(resolve, Math.min(timeout, MAX_TIMER_SECONDS) * 1000);
  });
  // Without futures there is no first one to wait for.
  const first = returnWhen === 'first' && ends.length > 0;
  await Promise.race([first ? Promise.race(ends) : Promise.all(ends), limit]);
  clearTimeout(timer);
  return { done: list.filter(({ done }) => done), notDone: list.filter(({ done }) => !done) };
}
