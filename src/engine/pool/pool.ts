// Isolates that live from run to run: starting a thread costs ~40 ms, a process ~100 ms. Several runs may use a pool at
// once: each begins where no other is, and takes further places as they become free. A dead isolate is replaced when a run asks for its place.
import { epochOffsetMs } from '../worker/isolateClock.js';
import type { Isolate } from './isolate.js';
import { ProcessIsolate } from './processIsolate.js';
import { ThreadIsolate } from './threadIsolate.js';

export type PoolKind = 'threads' | 'processes';

export class Pool {
  readonly kind: PoolKind;
  readonly #isolates: Isolate[] = [];
  readonly #epochOffsetMs = epochOffsetMs();
  static #started = { threads: 0, processes: 0 };

  constructor(kind: PoolKind) {
    this.kind = kind;
  }

  /** Returns at most `count` of the first `size` places: those that no run uses. */
  freePlaces(count: number, size: number): number[] {
    const places: number[] = [];
    for (let place = 0; place < size && places.length < count; place++) {
      const isolate = this.#isolates[place];
      if (!isolate?.alive || isolate.isFree) places.push(place);
    }
    return places;
  }

  /** The isolate in this place, a new one if there is none or it has died. */
  isolate(place: number): Isolate {
    const present = this.#isolates[place];
    if (present?.alive) return present;
    const name = `${this.kind}-${Pool.#started[this.kind]++}`;
    const isolate =
      this.kind === 'threads'
        ? new ThreadIsolate(name, this.#epochOffsetMs)
        : new ProcessIsolate(name, this.#epochOffsetMs);
    this.#isolates[place] = isolate;
    return isolate;
  }

  terminate(): void {
    for (const isolate of this.#isolates.splice(0)) isolate.terminate();
  }
}

const shared = new Map<PoolKind, Pool>();

/** The pool of this kind that all runs share. */
export function sharedPool(kind: PoolKind): Pool {
  let pool = shared.get(kind);
  if (pool === undefined) {
    pool = new Pool(kind);
    shared.set(kind, pool);
  }
  return pool;
}

/** Ends the isolates of all shared pools. Runs in progress go on with new ones. */
export function terminateSharedPools(): void {
  for (const pool of shared.values()) pool.terminate();
}
