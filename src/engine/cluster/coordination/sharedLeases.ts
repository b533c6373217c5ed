// The locks and semaphores of a cluster. A caller that has stopped holds no lease any more.
import { invalidArgument, LongpoleError } from '../../../base/errors.js';
import type { CoordinationKinds, LeaseKind } from '../../../protocol/coordination.js';
import { NamedObjects } from './namedObjects.js';
import { type Begin, type Caller, type Leave, perCaller } from './waitFor.js';

interface Waiting<O> {
  readonly owner: O;
  readonly granted: () => void;
}

/**
 * The leases of one lock or semaphore. A pure state machine: callers are granted leases in the order of their calls, and
 * never more than `max` leases are in use. `O` identifies the task or client that holds leases.
 */
export class Leases<O> {
  readonly max: number;
  readonly #held = new Map<O, number>();
  /** In the order of the calls. */
  readonly #waiting = new Set<Waiting<O>>();
  /** Number of leases in use. */
  count = 0;

  constructor(max: number) {
    this.max = max;
  }

  get isUnused(): boolean {
    return this.count === 0 && this.#waiting.size === 0;
  }

  get holders(): Iterable<O> {
    return this.#held.keys();
  }

  has(owner: O): boolean {
    return this.#held.has(owner);
  }

  /**
   * Grants a lease, at once or later.
   *
   * @returns undefined if the lease was granted at once
   */
  acquire(owner: O, granted: () => void): Leave | undefined {
    const call = { owner, granted };
    this.#waiting.add(call);
    this.#grant();
    return this.#waiting.has(call) ? () => void this.#waiting.delete(call) : undefined;
  }

  /** Returns one lease of the owner. The result is false if the owner has none. */
  release(owner: O): boolean {
    const held = this.#held.get(owner);
    if (held === undefined) return false;
    if (held === 1) this.#held.delete(owner);
    else this.#held.set(owner, held - 1);
    this.count--;
    this.#grant();
    return true;
  }

  /** Returns all leases of the owner. */
  releaseAll(owner: O): void {
    this.count -= this.#held.get(owner) ?? 0;
    this.#held.delete(owner);
    this.#grant();
  }

  #grant(): void {
    for (const call of this.#waiting) {
      if (this.count >= this.max) return;
      this.#waiting.delete(call);
      this.count++;
      this.#held.set(call.owner, (this.#held.get(call.owner) ?? 0) + 1);
      call.granted();
    }
  }
}

type Acquire = CoordinationKinds['lease-acquire']['question'];
type LeaseName = CoordinationKinds['lease-release']['question'];

export class SharedLeases {
  readonly #objects: Readonly<Record<LeaseKind, NamedObjects<Leases<Caller>>>> = {
    Lock: new NamedObjects(),
    Semaphore: new NamedObjects(),
  };
  /** The leases in which a caller has a share, each with a function that removes it when it is unused. */
  readonly #held = perCaller(
    () => new Map<Leases<Caller>, () => void>(),
    (held, caller) => {
      for (const [leases, removeUnused] of held) {
        leases.releaseAll(caller);
        removeUnused();
      }
      held.clear();
    },
  );

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

  acquire({ what, name, max }: Acquire, caller: Caller): Begin<boolean> {
    const objects = this.#objects[what];
    const known = objects.get(name);
    if (known !== undefined && known.max !== max) throw maxError(name, known.max, max);
    return (answer) =>
      objects.begin(
        name,
        () => new Leases(max),
        (leases) =>
          leases.acquire(caller, () => {
            this.#held(caller).set(leases, () => objects.removeUnused(name));
            answer(true);
          }),
      );
  }

  /** @throws LongpoleError ERR_LONGPOLE_NOT_ACQUIRED */
  release({ what, name }: LeaseName, caller: Caller): undefined {
    // The leases of a caller that has stopped are released already.
    if (caller.stopped.aborted) return;
    const leases = this.#objects[what].get(name);
    if (!leases?.release(caller)) throw notAcquired(what, name);
    if (!leases.has(caller)) this.#held(caller).delete(leases);
    this.#objects[what].removeUnused(name);
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
