// `Semaphore`: limits how many tasks and clients use something at the same time.
import { COUNT, type OptionKinds } from '../../base/arguments.js';
import { LeasedObject } from './leasedObject.js';
import { SHARED_OPTIONS, type SharedOptions, type TimeoutOptions } from './sharedObject.js';

export interface SemaphoreOptions extends SharedOptions {
  /** Largest number of leases at the same time. Every task and client passes the same number. Default 1. */
  readonly max?: number;
}

const SEMAPHORE_OPTIONS: OptionKinds<SemaphoreOptions> = { ...SHARED_OPTIONS, max: COUNT };

/**
 * A number of leases for tasks and clients of a cluster, e.g. connections to a database. Leases are granted in the order
 * of the calls.
 *
 *     const connections = new Semaphore('database', { max: 4 });
 *     await connections.withLease(() => query());
 *
 * A lease belongs to the task or client that acquired it. It is released at the latest when the code of the task has
 * ended, when the worker of the task has died, or when the client closes.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT
 * @source Dask, `distributed.Semaphore`
 */
export class Semaphore extends LeasedObject {
  constructor(name: string, options: SemaphoreOptions = {}) {
    super('Semaphore', name, options, SEMAPHORE_OPTIONS);
  }

  /**
   * Waits for a lease.
   *
   * @returns (resolves) true; false at the time limit
   * @throws (rejects) LongpoleError ERR_LONGPOLE_NO_CLIENT outside a task if no client is connected;
   *   ERR_LONGPOLE_CLOSED if the client or the cluster closes; ERR_LONGPOLE_FUTURE if the task is cancelled;
   *   ERR_LONGPOLE_INVALID_ARGUMENT, also if the semaphore is in use with another `max`
   * @source Dask, `Semaphore.acquire`
   */
  acquire(options: TimeoutOptions = {}): Promise<boolean> {
    return this.tryAcquire('Semaphore.acquire', options);
  }

  /**
   * Calls a function with a lease, which is released when the function has ended.
   *
   * @returns (resolves) the result of the function
   * @throws (rejects) the error of the function; the errors of `hold`
   * @source Dask, `with semaphore:`
   */
  withLease<R>(fn: () => R, options: TimeoutOptions = {}): Promise<Awaited<R>> {
    return this.during('Semaphore.withLease', fn, options);
  }

  /**
   * Returns the number of leases in use.
   *
   * @source Dask, `Semaphore.get_value`
   */
  getValue(): Promise<number> {
    return this.count();
  }
}
