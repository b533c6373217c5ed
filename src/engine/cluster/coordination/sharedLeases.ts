// The locks and semaphores of a cluster. A caller that has stopped holds no lease any more.
import { invalidArgument, LongpoleError } from '../../../base/errors.js';
import type { CoordinationKinds, LeaseKind } from '../../../protocol/coordination.js';
import { Leases } from './leases.js';
import { NamedObjects } from './namedObjects.js';
import { type Caller, waitFor } from './waitFor.js';

type Acquire = CoordinationKinds['lease-acquire']['question'];
type LeaseName = CoordinationKinds['lease-release']['question'];

export class SharedLeases {
  readonly #objects: Readonly<Record<LeaseKind, NamedObjects<Leases<Caller>>>> = {
    Lock: new NamedObjects(),
    Semaphore: new NamedObjects(),
  };
  /** The leases in which a caller has a share, each with a function that removes it when it is unused. */
  readonly #held = new WeakMap<Caller, Map<Leases<Caller>, () => void>>();

  get size(): number {
    return this.#objects.Lock.size + this.#objects.Semaphore.size;
  }

  count({ what, name }: LeaseName): number {
    return this.#objects[what].get(name)?.count ?? 0;
  }

  /** The objects with holders or waiting calls. */
  get held(): LeaseName[] {
    const namesOf = (what: LeaseKind) => Array.from(this.#objects[what].names, (name) => ({ what, name }));
    return [...namesOf('Lock'), ...namesOf('Semaphore')];
  }

  /** Returns the keys of the tasks and the names of the clients that hold leases. */
  holders({ what, name }: LeaseName): string[] {
    return Array.from(this.#objects[what].get(name)?.holders ?? [], ({ key }) => key);
  }

  acquire({ what, name, max, timeout }: Acquire, caller: Caller): Promise<boolean> {
    const objects = this.#objects[what];
    const known = objects.get(name);
    if (known !== undefined && known.max !== max) throw maxError(name, known.max, max);
    return waitFor<boolean>(
      caller,
      timeout,
      (answer) =>
        objects.begin(
          name,
          () => new Leases(max),
          (leases) =>
            leases.acquire(caller, () => {
              this.#holds(caller, leases, () => objects.removeUnused(name));
              answer(true);
            }),
        ),
      false,
    );
  }

  /** @throws LongpoleError ERR_LONGPOLE_NOT_ACQUIRED */
  release({ what, name }: LeaseName, caller: Caller): undefined {
    // The leases of a caller that has stopped are released already.
    if (caller.stopped.aborted) return;
    const leases = this.#objects[what].get(name);
    if (!leases?.release(caller)) throw notAcquired(what, name);
    if (!leases.has(caller)) this.#held.get(caller)?.delete(leases);
    this.#objects[what].removeUnused(name);
  }

  #holds(caller: Caller, leases: Leases<Caller>, removeUnused: () => void): void {
    const held = this.#held.get(caller) ?? this.#watch(caller);
    held.set(leases, removeUnused);
  }

  #watch(caller: Caller): Map<Leases<Caller>, () => void> {
    const held = new Map<Leases<Caller>, () => void>();
    this.#held.set(caller, held);
    caller.stopped.addEventListener('abort', () => {
      for (const [leases, removeUnused] of held) {
        leases.releaseAll(caller);
        removeUnused();
      }
      held.clear();
    });
    return held;
  }
}

function maxError(name: string, known: number, max: number): LongpoleError {
  return invalidArgument(
    `Semaphore '${name}' is in use with max: ${known}, and this call expects max: ${max}. Pass the same max everywhere.`,
  );
}

function notAcquired(what: LeaseKind, name: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_NOT_ACQUIRED',
    `${what} '${name}' was released by a task or client that has not acquired it. ` +
      'Release it in the task or client that acquired it, once for each acquire().',
  );
}
