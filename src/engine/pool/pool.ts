// A fixed number of isolates that live from run to run: starting a thread costs ~40 ms, a process ~100 ms. Several runs
// may use a pool at once. A dead isolate is replaced when somebody asks for its place.
import { epochOffsetMs } from '../worker/isolateClock.js';
import type { Isolate } from './isolate.js';
import { ProcessIsolate } from './processIsolate.js';
import { ThreadIsolate } from './threadIsolate.js';

export type PoolKind = 'threads' | 'processes';

export class Pool {
  readonly kind: PoolKind;
  readonly #isolates: (Isolate | undefined)[];
  readonly #epochOffsetMs = epochOffsetMs();
  static #started = { threads: 0, processes: 0 };

  constructor(kind: PoolKind, size: number) {
    this.kind = kind;
    this.#isolates = new Array(size).fill(undefined);
  }

  get size(): number {
    return this.#isolates.length;
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
    for (const [place, isolate] of this.#isolates.entries()) {
      isolate?.terminate();
      this.#isolates[place] = undefined;
    }
  }
}

const shared = new Map<string, Pool>();

/** The pool of this kind and size that all runs share. */
export function sharedPool(kind: PoolKind, size: number): Pool {
  const name = `${kind} ${size}`;
  let pool = shared.get(name);
  if (pool === undefined) {
    pool = new Pool(kind, size);
    shared.set(name, pool);
  }
  return pool;
}

/** Ends the isolates of all shared pools. Runs in progress go on with new ones. */
export function terminateSharedPools(): void {
  for (const pool of shared.values()) pool.terminate();
}
