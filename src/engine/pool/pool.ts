// Isolates that are kept between runs, because starting a thread costs ~40 ms and starting a process ~100 ms. Several
// runs may use a pool at once. Each starts in free places and gets further places as they become free. A run that waits
// behind tasks that do not end gets a spare place. A dead isolate is replaced on demand.

import { getOrMake } from '../../base/lookUps.js';
import { checkRuntime } from '../checkRuntime.js';
import { epochOffsetMs } from '../worker/isolateClock.js';
import type { Isolate } from './isolate.js';
import { ProcessIsolate } from './processIsolate.js';
import { ThreadIsolate } from './threadIsolate.js';

export type PoolKind = 'threads' | 'processes';

/** The share of a pool that a run may use. */
export interface PoolShare {
  /** Largest number of isolates of the run. */
  readonly workers: number;
  /** Largest number of isolates of all concurrent runs together; at least `workers`. */
  readonly poolSize: number;
}

function sizeOf({ workers, poolSize }: PoolShare): number {
  return Math.max(workers, poolSize);
}

export class Pool {
  readonly #kind: PoolKind;
  readonly #isolates: Isolate[] = [];
  readonly #epochOffsetMs = epochOffsetMs();
  static #started = { threads: 0, processes: 0 };

  constructor(kind: PoolKind) {
    this.#kind = kind;
  }

  /**
   * Returns further free places for a run with `tasks` tasks and `taken` places. A run without any place shares the
   * first places with other runs, batch by batch.
   */
  places(taken: number, tasks: number, share: PoolShare): number[] {
    const most = Math.min(share.workers, tasks);
    const size = sizeOf(share);
    const places: number[] = [];
    for (let place = 0; place < size && taken + places.length < most; place++) {
      const isolate = this.#isolates[place];
      if (!isolate?.alive || isolate.isFree) places.push(place);
    }
    return taken + places.length === 0 ? Array.from({ length: most }, (_, place) => place) : places;
  }

  /** Returns a free place beyond those of the share, for a run whose places all have tasks of other runs that do not end. */
  sparePlace(share: PoolShare): number {
    let place = sizeOf(share);
    while (this.#isolates[place]?.alive && !this.#isolates[place]?.isFree) place++;
    return place;
  }

  /** Ends the isolate in a place beyond those of the share, unless another run uses it. Returns whether it has ended. */
  leave(place: number, share: PoolShare): boolean {
    const isolate = this.#isolates[place];
    const ends = place >= sizeOf(share) && isolate?.isFree === true;
    if (ends) isolate.terminate();
    return ends;
  }

  /** Returns the isolate in this place. Starts one if there is none or it has died. */
  isolate(place: number): Isolate {
    const present = this.#isolates[place];
    if (present?.alive) return present;
    const name = `${this.#kind}-${Pool.#started[this.#kind]++}`;
    const isolate =
      this.#kind === 'threads'
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

/** Returns the pool of this kind, which all runs share. */
export function sharedPool(kind: PoolKind): Pool {
  checkRuntime();
  return getOrMake(shared, kind, () => new Pool(kind));
}

/** Terminates the isolates of all shared pools. Runs in progress continue with new ones. */
export function terminateSharedPools(): void {
  for (const pool of shared.values()) pool.terminate();
}
