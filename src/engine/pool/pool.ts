// Isolates that live from run to run: starting a thread costs ~40 ms, a process ~100 ms. Several runs may use a pool at
// once: each begins where no other is, and takes further places as they become free. A dead isolate is replaced when a run asks for its place.
import { epochOffsetMs } from '../worker/isolateClock.js';
import type { Isolate } from './isolate.js';
import { ProcessIsolate } from './processIsolate.js';
import { ThreadIsolate } from './threadIsolate.js';

export type PoolKind = 'threads' | 'processes';

/** What a run may use of a pool. */
export interface PoolShare {
  /** How many isolates the run uses at most. */
  readonly workers: number;
  /** How many isolates the runs that use the pool at once have together; at least `workers`. */
  readonly poolSize: number;
}

export class Pool {
  readonly kind: PoolKind;
  readonly #isolates: Isolate[] = [];
  readonly #epochOffsetMs = epochOffsetMs();
  static #started = { threads: 0, processes: 0 };

  constructor(kind: PoolKind) {
    this.kind = kind;
  }

  /**
   * Returns further places for a run of so many tasks that has `taken` places: those that no run uses. A run that would have
   * no place shares the first ones, batch by batch.
   */
  places(taken: number, tasks: number, { workers, poolSize }: PoolShare): number[] {
    const most = Math.min(workers, tasks);
    const size = Math.max(workers, poolSize);
    const places: number[] = [];
    for (let place = 0; place < size && taken + places.length < most; place++) {
      const isolate = this.#isolates[place];
      if (!isolate?.alive || isolate.isFree) places.push(place);
    }
    return taken + places.length === 0 ? Array.from({ length: most }, (_, place) => place) : places;
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
