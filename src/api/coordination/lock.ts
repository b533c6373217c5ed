// `Lock`: lets one task or client at a time use something.
import { checkOptions, FLAG, invalid, type OptionKinds } from '../../base/arguments.js';
import { untilClosed } from '../../engine/cluster/endedByClosing.js';
import { LeasedObject } from './leasedObject.js';
import { SHARED_OPTIONS, type SharedOptions, TIMEOUT_OPTIONS, type TimeoutOptions } from './sharedObject.js';

export interface AcquireOptions extends TimeoutOptions {
  /** Whether to wait. False excludes `timeout`. Default true. */
  readonly blocking?: boolean;
}

const ACQUIRE_OPTIONS: OptionKinds<AcquireOptions> = { ...TIMEOUT_OPTIONS, blocking: FLAG };

/**
 * A lock for tasks and clients of a cluster. It is granted in the order of the calls, and cannot be acquired twice by one
 * holder.
 *
 *     const lock = new Lock('results.csv');
 *     await lock.withLock(() => appendFile('results.csv', line));
 *
 * The lock belongs to the task or client that acquired it. It is released at the latest when the code of the task has
 * ended, when the worker of the task has died, or when the client closes.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT
 * @source Dask, `distributed.Lock`
 */
export class Lock extends LeasedObject {
  constructor(name: string, options: SharedOptions = {}) {
    super('Lock', name, options, SHARED_OPTIONS);
  }

  /**
   * Waits for the lock.
   *
   * @returns (resolves) true; false at the time limit, or if the lock is not free and `blocking` is false
   * @throws (rejects) the errors of `Semaphore.acquire`
   * @source Dask, `Lock.acquire`
   */
  acquire(options: AcquireOptions = {}): Promise<boolean> {
    return untilClosed(async () => {
      checkOptions('Lock.acquire', options, ACQUIRE_OPTIONS);
      const { blocking = true, ...limit } = options;
      if (blocking) return this.tryAcquire('Lock.acquire', limit);
      if (limit.timeout !== undefined)
        throw invalid('Lock.acquire: timeout', limit.timeout, 'no timeout with blocking: false');
      return this.tryAcquire('Lock.acquire', { timeout: 0 });
    });
  }

  /**
   * Calls a function with the lock, which is released when the function has ended.
   *
   * @returns (resolves) the result of the function
   * @throws (rejects) the error of the function; the errors of `hold`
   * @source Dask, `with lock:`
   */
  withLock<R>(fn: () => R, options: TimeoutOptions = {}): Promise<Awaited<R>> {
    return this.during('Lock.withLock', fn, options);
  }

  /**
   * Returns whether a task or client holds the lock.
   *
   * @source Dask, `Lock.locked`
   */
  async locked(): Promise<boolean> {
    return (await this.count()) > 0;
  }
}
