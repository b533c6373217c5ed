// The results that one client holds, and how many of its futures stand for each. Clients of one cluster share results of
// equal keys, so a client lets go of its own share only.
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

  /** The reverse of hold; nothing if everything was let go of meanwhile. */
  letGo(handle: ResultHandle): void {
    const count = this.#counts.get(handle);
    if (count === undefined) return;
    if (count === 1) this.#counts.delete(handle);
    else this.#counts.set(handle, count - 1);
    this.#engine.results.release(handle);
  }

  /** @param reason what calls that wait for one of the results reject with, unless another client holds the result */
  letGoOfAll(reason: LongpoleError): void {
    for (const [handle, count] of this.#counts)
      for (let reference = 0; reference < count; reference++) this.#engine.results.release(handle, reason);
    this.#counts.clear();
  }
}
