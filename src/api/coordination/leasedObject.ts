// The common part of Lock and Semaphore.
import {
  CALLABLE,
  checkArgument,
  checkNoMore,
  checkOptions,
  type OptionKinds,
} from '../../base/arguments.js';
import { thenEnding } from '../../base/thenEnding.js';
import { untilClosed } from '../../engine/cluster/endedByClosing.js';
import type { LeaseKind } from '../../protocol/coordination.js';
import {
  SharedObject,
  type SharedOptions,
  TIMEOUT_OPTIONS,
  type TimeoutOptions,
  timeoutError,
} from './sharedObject.js';

/** A lease of a lock or semaphore. `await using` releases the lease at the end of the block. */
export interface Lease extends AsyncDisposable {
  /** Releases the lease. Further calls have no effect. */
  release(): Promise<void>;
}

export abstract class LeasedObject extends SharedObject {
  readonly #what: LeaseKind;
  /** Largest number of leases at the same time. */
  readonly max: number;

  /** @internal */
  protected constructor(
    what: LeaseKind,
    name: string,
    options: SharedOptions & { readonly max?: number },
    kinds: OptionKinds<SharedOptions>,
  ) {
    super(what, name, options, kinds);
    this.#what = what;
    this.max = options.max ?? 1;
  }

  /**
   * Releases a lease that this task or client has acquired. The lease goes to the call that waits longest.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_NOT_ACQUIRED if this task or client holds no lease
   * @source Dask, `Lock.release` and `Semaphore.release`
   */
  release(): Promise<void>;
  async release(...more: readonly unknown[]): Promise<void> {
    checkNoMore(`${this.#what}.release`, more, 'It releases one lease.');
    await this.call('lease-release', { what: this.#what, name: this.name });
  }

  /**
   * Acquires a lease for a block.
   *
   *     await using lease = await lock.hold();
   *
   * @returns (resolves) the lease
   * @throws (rejects) LongpoleError ERR_LONGPOLE_TIMEOUT at the time limit; the errors of `acquire`
   * @source Dask, `with lock:`
   */
  hold(options: TimeoutOptions = {}): Promise<Lease> {
    return untilClosed(async () => {
      const acquired = await this.tryAcquire(`${this.#what}.hold`, options);
      if (!acquired) throw timeoutError(`${this.#what} '${this.name}' was not free`, options);
      let isHeld = true;
      const release = async (): Promise<void> => {
        if (isHeld) {
          isHeld = false;
          await this.release();
        }
      };
      return { release, [Symbol.asyncDispose]: release };
    });
  }

  /** @internal */
  protected during<R>(where: string, fn: () => R, options: TimeoutOptions): Promise<Awaited<R>> {
    return untilClosed(async (): Promise<Awaited<R>> => {
      checkArgument(`${where}: fn`, fn, CALLABLE);
      const lease = await this.hold(options);
      return thenEnding(fn, lease.release);
    });
  }

  /** @internal */
  protected tryAcquire(where: string, options: TimeoutOptions): Promise<boolean> {
    return untilClosed(async () => {
      checkOptions(where, options, TIMEOUT_OPTIONS);
      const { name, max } = this;
      const question = (timeout: number | undefined) => ({ what: this.#what, name, max, timeout });
      return this.callWaiting('lease-acquire', question, options.timeout);
    });
  }

  /** @internal */
  protected count(): Promise<number> {
    return this.call('lease-count', { what: this.#what, name: this.name });
  }
}
