// Counts the references of one client to results. Clients of a cluster share results of equal keys, so a client may
// release only its own references.
import type { LongpoleError } from '../../base/errors.js';
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import type { ResultHandle } from '../../engine/cluster/computationState.js';

export class HeldHandles {
  readonly #engine: ClusterEngine;
  readonly #counts = new Map<ResultHandle, number>();

  constructor(engine: ClusterEngine) {
    this.#engine = engine;
  }

  hold(handle: ResultHandle): void {
    handle.references++;
    this.#counts.set(handle, (this.#counts.get(handle) ?? 0) + 1);
  }

  /** Reverts `hold`. Has no effect after `releaseAll`. */
  release(handle: ResultHandle): void {
    const count = this.#counts.get(handle);
    if (count === undefined) return;
    if (count === 1) this.#counts.delete(handle);
    else this.#counts.set(handle, count - 1);
    this.#engine.results.release(handle);
  }

  /** @param reason error for calls that wait for one of the results, unless another client holds the result */
  releaseAll(reason: LongpoleError): void {
    for (const [handle, count] of this.#counts)
      for (let reference = 0; reference < count; reference++) this.#engine.results.release(handle, reason);
    this.#counts.clear();
  }
}
