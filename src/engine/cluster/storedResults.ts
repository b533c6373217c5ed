// Which workers' stores hold which results, so that all copies go when the result does.
import type { ResultId } from '../../protocol/frames.js';

export class StoredResults {
  readonly #holders = new Map<ResultId, Set<number>>();
  readonly #nbytes = new Map<ResultId, number>();

  get size(): number {
    return this.#holders.size;
  }

  add(result: ResultId, nbytes: number, worker: number): void {
    this.#nbytes.set(result, nbytes);
    this.copied(result, worker);
  }

  /** A worker was told to take a copy. */
  copied(result: ResultId, worker: number): void {
    const known = this.#holders.get(result);
    if (known === undefined) this.#holders.set(result, new Set([worker]));
    else known.add(worker);
  }

  holders(result: ResultId): ReadonlySet<number> {
    return this.#holders.get(result) ?? NO_WORKERS;
  }

  /** Forgets the result; returns who may have it. */
  remove(result: ResultId): ReadonlySet<number> {
    const holders = this.#holders.get(result) ?? NO_WORKERS;
    this.#holders.delete(result);
    this.#nbytes.delete(result);
    return holders;
  }

  /** A worker is gone. */
  forgetWorker(worker: number): void {
    for (const holders of this.#holders.values()) holders.delete(worker);
  }
}

const NO_WORKERS: ReadonlySet<number> = new Set();
