// The workers that hold each stored result, so that all copies are dropped with the result.
import { getOrMake } from '../../base/lookUps.js';
import type { ResultId } from '../../protocol/packedResult.js';

export class StoredResults {
  readonly #holders = new Map<ResultId, Set<number>>();

  get size(): number {
    return this.#holders.size;
  }

  /** Records that a worker has a result, or was asked to take a copy. */
  add(result: ResultId, worker: number): void {
    getOrMake(this.#holders, result, () => new Set()).add(worker);
  }

  holders(result: ResultId): ReadonlySet<number> {
    return this.#holders.get(result) ?? NO_WORKERS;
  }

  /** Forgets a result. Returns the workers that may hold it. */
  remove(result: ResultId): ReadonlySet<number> {
    const holders = this.#holders.get(result) ?? NO_WORKERS;
    this.#holders.delete(result);
    return holders;
  }

  /** Removes a worker that has ended. */
  forgetWorker(worker: number): void {
    for (const holders of this.#holders.values()) holders.delete(worker);
  }
}

const NO_WORKERS: ReadonlySet<number> = new Set();
