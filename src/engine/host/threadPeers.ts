// Access to the stores of workers that are threads of one process. The results lie in shared memory, so a transfer
// copies nothing and is only recorded.
import { pushTo } from '../../base/lookUps.js';
import type { Transfer } from '../../protocol/clusterObserver.js';
import {
  type GatherInput,
  type PackedResult,
  packedBytes,
  type ResultId,
} from '../../protocol/packedResult.js';
import type { Store } from '../store/store.js';
import type { FetchFromPeers, Gathered } from './hostTypes.js';

/** The index of the client in transfers. Its store holds scattered data. */
export const CLIENT = -1;

export class ThreadPeers {
  readonly #stores = new Map<number, Store>();
  readonly #clock: () => number;
  readonly #notify: (transfer: Transfer) => void;

  constructor(clock: () => number, notify: (transfer: Transfer) => void) {
    this.#clock = clock;
    this.#notify = notify;
  }

  join(worker: number, store: Store): void {
    this.#stores.set(worker, store);
  }

  leave(worker: number): void {
    this.#stores.delete(worker);
  }

  /** Returns the function with which one worker fetches. */
  of(worker: number): FetchFromPeers {
    return async (inputs, what) => {
      const results = new Map<ResultId, PackedResult>();
      const missing: GatherInput[] = [];
      const gathered: Gathered[] = [];
      const byPeer = new Map<number, GatherInput[]>();
      for (const input of inputs) pushTo(byPeer, input.from, input);
      for (const [peer, wanted] of byPeer) {
        const store = this.#stores.get(peer);
        const start = this.#clock();
        const moved: GatherInput[] = [];
        let nbytes = 0;
        for (const input of wanted) {
          const found = await store?.read(input.result);
          if (found === undefined) {
            missing.push(input);
            continue;
          }
          results.set(input.result, found);
          moved.push(input);
          nbytes += packedBytes(found);
        }
        if (moved.length === 0) continue;
        const keys = moved.map(({ key }) => key);
        const stop = this.#clock();
        gathered.push({ inputs: moved, nbytes, start, stop });
        const common = { keys, nbytes, compressed: nbytes, start, stop };
        this.#notify({ worker, peer, direction: 'incoming', what, ...common });
        if (peer !== CLIENT)
          this.#notify({ worker: peer, peer: worker, direction: 'outgoing', what: 'get-data', ...common });
      }
      return { results, missing, gathered };
    };
  }
}
