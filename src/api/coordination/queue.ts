// `Queue`: passes values between tasks and clients.
import { COUNT, checkOptions, kind, type OptionKinds, wholeNumber } from '../../base/arguments.js';
import { untilClosed } from '../../engine/cluster/endedByClosing.js';
import {
  type Received,
  SHARED_OPTIONS,
  SharedObject,
  type SharedOptions,
  TIMEOUT_OPTIONS,
  type TimeoutOptions,
  timeoutError,
} from './sharedObject.js';

export interface QueueOptions extends SharedOptions {
  /** Number of items at which calls of `put` of this object wait. Default 0: no limit. */
  readonly maxSize?: number;
}

const QUEUE_OPTIONS: OptionKinds<QueueOptions> = {
  ...SHARED_OPTIONS,
  maxSize: wholeNumber(0),
};

export interface GetOptions extends TimeoutOptions {
  /** Number of items to wait for; true: all items that are in the queue now, perhaps none. Default: one item, alone. */
  readonly batch?: number | boolean;
}

const GET_OPTIONS: OptionKinds<GetOptions> = {
  ...TIMEOUT_OPTIONS,
  batch: kind(
    'true, false or a whole number from 1',
    (value) => typeof value === 'boolean' || COUNT.accepts(value),
  ),
};

/**
 * A queue between tasks and clients of a cluster. Items leave in the order in which they came, and waiting calls are
 * answered in their order. Items are copied, like results, and kept in the process of the scheduler. A future is passed on
 * as a future. The cluster keeps its result until the item is taken.
 *
 *     const found = new Queue<string>('found');
 *     await found.put('first');
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT
 * @source Dask, `distributed.Queue`
 */
export class Queue<T = unknown> extends SharedObject {
  readonly maxSize: number;

  constructor(name: string, options: QueueOptions = {}) {
    super('Queue', name, options, QUEUE_OPTIONS);
    this.maxSize = options.maxSize ?? 0;
  }

  /**
   * Appends an item. Waits while the queue has `maxSize` items or more.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_TIMEOUT at the time limit, ERR_LONGPOLE_NOT_CLONEABLE if the item cannot
   *   be copied, ERR_LONGPOLE_FUTURE for a future that was released or cancelled, or belongs to another cluster; the
   *   errors of `Semaphore.acquire`
   * @source Dask, `Queue.put`
   */
  put(item: T, options: TimeoutOptions = {}): Promise<void> {
    return untilClosed(async () => {
      checkOptions('Queue.put', options, TIMEOUT_OPTIONS);
      const { name, maxSize } = this;
      const value = this.packed('Queue.put', item);
      const question = (timeout: number | undefined) => ({ name, timeout, value, maxSize });
      const isIn = await this.callWaiting('queue-put', question, options.timeout);
      if (!isIn) throw timeoutError(`Queue '${name}' was full`, options);
    });
  }

  /**
   * Takes an item, or several with `batch`. Waits until there are enough. Items of a call that ends before its answer
   * return to the queue.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_TIMEOUT at the time limit; the errors of `Semaphore.acquire`
   * @source Dask, `Queue.get`, which however has no time limit for a number of items
   */
  get(options?: TimeoutOptions & { readonly batch?: false }): Promise<Received<T>>;
  get(options: TimeoutOptions & { readonly batch: number | true }): Promise<Received<T>[]>;
  get(options: GetOptions = {}): Promise<unknown> {
    return untilClosed(async () => {
      checkOptions('Queue.get', options, GET_OPTIONS);
      const { name } = this;
      const { batch = false } = options;
      const count = batch === true ? undefined : batch || 1;
      const question = (timeout: number | undefined) => ({ name, timeout, count });
      const values = await this.callWaiting('queue-get', question, options.timeout);
      if (values === undefined) throw timeoutError(`Queue '${name}' had too few items`, options);
      const items = values.map((value) => this.received(value));
      return batch === false ? items[0] : items;
    });
  }

  /**
   * Returns the number of items.
   *
   * @source Dask, `Queue.qsize`
   */
  qsize(): Promise<number> {
    return this.call('queue-size', { name: this.name });
  }
}
