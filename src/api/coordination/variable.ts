// `Variable`: a value that tasks and clients share.
import { checkOptions } from '../../base/arguments.js';
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

/**
 * A value that tasks and clients of a cluster share. It is copied, like a result, and kept in the process of the scheduler.
 * A future is passed on as a future. The cluster keeps its result until the variable has another value.
 *
 *     const best = new Variable<number>('best');
 *     await best.set(0.93);
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT
 * @source Dask, `distributed.Variable`
 */
export class Variable<T = unknown> extends SharedObject {
  constructor(name: string, options: SharedOptions = {}) {
    super('Variable', name, options, SHARED_OPTIONS);
  }

  /**
   * Sets the value. Calls of `get` that wait return it.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_NOT_CLONEABLE if the value cannot be copied,
   *   ERR_LONGPOLE_FUTURE for a future that was released or cancelled, or belongs to another cluster
   * @source Dask, `Variable.set`
   */
  async set(value: T): Promise<void> {
    await this.call('variable-set', { name: this.name, value: this.packed('Variable.set', value) });
  }

  /**
   * Returns the value. Waits until the variable has one.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_TIMEOUT at the time limit; the errors of `Semaphore.acquire`
   * @source Dask, `Variable.get`
   */
  get(options?: TimeoutOptions): Promise<Received<T>>;
  get(options: TimeoutOptions = {}): Promise<unknown> {
    return untilClosed(async () => {
      checkOptions('Variable.get', options, TIMEOUT_OPTIONS);
      const { name } = this;
      const question = (timeout: number | undefined) => ({ name, timeout });
      const value = await this.callWaiting('variable-get', question, options.timeout);
      if (value === undefined) throw timeoutError(`Variable '${name}' had no value`, options);
      return this.received(value);
    });
  }

  /**
   * Removes the value. Later calls of `get` wait for the next one.
   *
   * @source Dask, `Variable.delete`
   */
  async delete(): Promise<void> {
    await this.call('variable-delete', { name: this.name });
  }
}
