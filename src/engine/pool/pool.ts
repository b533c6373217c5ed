// Isolates that live from run to run: starting a thread costs ~40 ms, a process ~100 ms. A run uses the first so many
// places of a pool, and several runs may use it at once. A dead isolate is replaced when somebody asks for its place.
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
