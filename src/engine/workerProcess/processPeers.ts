// Access to the stores of other worker processes, over sockets.

import { pushTo } from '../../base/lookUps.js';
import type { Transfer } from '../../protocol/clusterObserver.js';
import type { GatherInput, PackedResult, ResultId } from '../../protocol/packedResult.js';
import type { Gathered, PeerAnswer, Peers } from '../host/peers.js';
import { FailedFetches } from '../transfer/failedFetches.js';
import { OpenTransfers } from '../transfer/openTransfers.js';
import type { PeerClient } from '../transfer/peerClient.js';

export class ProcessPeers implements Peers {
  readonly #client: PeerClient;
  /** Fetches in progress. */
  readonly open = new OpenTransfers();
  readonly #failed: FailedFetches;

  /** @param notify receives the errors of peers that could not be reached */
  constructor(client: PeerClient, notify: (topic: string, text: string) => void) {
    this.#client = client;
    this.#failed = new FailedFetches(notify);
  }

  async fetch(inputs: readonly GatherInput[], what: Transfer['what']): Promise<PeerAnswer> {
    const results = new Map<ResultId, PackedResult>();
    const missing: GatherInput[] = [];
    const gathered: Gathered[] = [];
    const byAddress = new Map<string, GatherInput[]>();
    for (const input of inputs) pushTo(byAddress, input.address, input);
    await Promise.all(
      Array.from(byAddress, async ([address, wanted]) => {
        const peer = wanted[0]!.from;
        const open = this.open.begin(wanted.reduce((sum, { nbytes }) => sum + nbytes, 0));
        try {
          const ids = wanted.map(({ result }) => result);
          const fetched = await this.#client.fetch(address, ids, { peer, what });
          for (const [result, one] of fetched.results) results.set(result, one);
          const inputs = wanted.filter(({ result }) => fetched.results.has(result));
          for (const input of wanted) if (!fetched.results.has(input.result)) missing.push(input);
          const { nbytes, start, stop } = fetched;
          if (inputs.length > 0) gathered.push({ inputs, nbytes, start, stop });
        } catch (error) {
          this.#failed.add(address, wanted.length, error);
          for (const input of wanted) missing.push(input);
        } finally {
          open.end();
        }
      }),
    );
    return { results, missing, gathered };
  }
}
