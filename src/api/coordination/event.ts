// `Event`: a flag for which tasks and clients wait.
import { checkOptions } from '../../base/arguments.js';
import { untilClosed } from '../../engine/cluster/endedByClosing.js';
import {
  SHARED_OPTIONS,
  SharedObject,
  type SharedOptions,
  TIMEOUT_OPTIONS,
  type TimeoutOptions,
} from './sharedObject.js';

/**
 * A flag that tasks and clients of a cluster share. It is not set at first.
 *
 *     const ready = new Event('ready');
 *     await ready.wait();
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT
 * @source Dask, `distributed.Event`
 */
export class Event extends SharedObject {
  constructor(name: string, options: SharedOptions = {}) {
    super('Event', name, options, SHARED_OPTIONS);
  }

  /**
   * Waits until the event is set.
   *
   * @returns (resolves) true; false at the time limit
   * @throws (rejects) the errors of `Semaphore.acquire`
   * @source Dask, `Event.wait`
   */
  wait(options: TimeoutOptions = {}): Promise<boolean> {
    return untilClosed(async () => {
      checkOptions('Event.wait', options, TIMEOUT_OPTIONS);
      const { name } = this;
      return this.callWaiting('event-wait', (timeout) => ({ name, timeout }), options.timeout);
    });
  }

  /**
   * Sets the event. Waiting calls of `wait` resolve to true, and so do later ones until `clear()`.
   *
   * @source Dask, `Event.set`
   */
  async set(): Promise<void> {
    await this.call('event-change', { name: this.name, isSet: true });
  }

  /**
   * Clears the event. Later calls of `wait` wait again.
   *
   * @source Dask, `Event.clear`
   */
  async clear(): Promise<void> {
    await this.call('event-change', { name: this.name, isSet: false });
  }

  /**
   * Returns whether the event is set.
   *
   * @source Dask, `Event.is_set`
   */
  isSet(): Promise<boolean> {
    return this.call('event-is-set', { name: this.name });
  }
}
