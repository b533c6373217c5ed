// Fetches results from peers, over a few connections to each, so that a small result need not wait behind a large one.
import { LongpoleError } from '../../base/errors.js';
import type { Transfer } from '../../protocol/clusterObserver.js';
import type { ResultId } from '../../protocol/packedResult.js';
import { PeerConnection } from './peerConnection.js';
import type { Fetched } from './pendingFetch.js';
import { MAX_IDS } from './transferMessages.js';

export type { Fetched } from './pendingFetch.js';

/** Options of both sides of a connection. */
export interface PeerOptions {
  /** The secret of the cluster. A peer without it gets nothing. */
  readonly token: string;
  /** Index of this worker, or -1 for a client. */
  readonly worker: number;
  /** Seconds since the epoch on the scheduler's clock. */
  readonly now: () => number;
  readonly keyOf: (id: ResultId) => string;
  readonly onTransfer?: (transfer: Transfer) => void;
}

export interface PeerClientOptions extends PeerOptions {
  /** Connections to one peer at a time. Default: 4. */
  readonly connections?: number;
  /** Largest result in bytes. Larger ones are refused. Default: 1 TB. */
  readonly maxResultBytes?: number;
}

export interface FetchOptions {
  /** Index of the peer. Default: -1, unknown. */
  readonly peer?: number;
  /** Seconds without a byte after which the fetch fails. Default: 30. */
  readonly timeout?: number;
  /** Default: `gather-dep`. */
  readonly what?: Transfer['what'];
}

const MAX_RESULT_BYTES = 2 ** 40;

export class PeerClient {
  readonly #options: PeerClientOptions;
  readonly #connections = new Map<string, PeerConnection[]>();
  #closed = false;

  constructor(options: PeerClientOptions) {
    this.#options = options;
  }

  /**
   * Returns packed results, large buffers in shared memory, and the ids of results that the peer lacks. Times are seconds
   * since the epoch on the scheduler's clock.
   *
   * @throws LongpoleError (rejects) ERR_LONGPOLE_UNREACHABLE if a peer on the network never answers; ERR_LONGPOLE_PEER if the
   *   connection breaks, or is silent for too long. Results that have arrived are discarded.
   */
  async fetch(
    address: string,
    ids: readonly ResultId[],
    options: FetchOptions = {},
  ): Promise<Fetched & { readonly start: number; readonly stop: number }> {
    const { timeout = 30, peer = -1, what = 'gather-dep' } = options;
    if (this.#closed) throw closed(address);
    const unique = [...new Set(ids)];
    const start = this.#options.now();
    const pieces: Promise<Fetched>[] = [];
    let ahead = 0;
    for (let at = 0; at < unique.length; at += MAX_IDS) {
      const piece = unique.slice(at, at + MAX_IDS);
      const connection = this.#connection(address);
      if (at === 0) ahead = connection.load;
      pieces.push(connection.request(piece, timeout * 1000));
    }
    const fetched = joined(await Promise.all(pieces));
    const stop = this.#options.now();
    if (fetched.results.size > 0) {
      const { worker, keyOf, onTransfer } = this.#options;
      const { nbytes } = fetched;
      const keys = [...fetched.results.keys()].map(keyOf);
      onTransfer?.({
        worker,
        peer,
        direction: 'incoming',
        what,
        keys,
        nbytes,
        compressed: nbytes,
        start,
        stop,
        ahead,
      });
    }
    return { ...fetched, start, stop };
  }

  /** Closes the connections to a peer, e.g. because it is known to be dead. Its transfers fail. */
  forget(address: string): void {
    for (const connection of [...(this.#connections.get(address) ?? [])]) connection.close('it is gone');
  }

  /** Closes all connections. Transfers in progress fail. */
  close(): void {
    this.#closed = true;
    for (const connections of [...this.#connections.values()]) {
      for (const connection of [...connections]) connection.close('this worker is closing');
    }
  }

  /** Returns an idle connection, a new one, or the one with the fewest requests. */
  #connection(address: string): PeerConnection {
    const open = this.#connections.get(address) ?? [];
    const best = open.reduce<PeerConnection | undefined>(
      (least, one) => (least === undefined || one.load < least.load ? one : least),
      undefined,
    );
    const full = open.length >= (this.#options.connections ?? 4);
    if (best !== undefined && (best.load === 0 || full)) return best;
    const { token, worker, maxResultBytes = MAX_RESULT_BYTES } = this.#options;
    const onClose = (): void => {
      open.splice(open.indexOf(connection), 1);
      if (open.length === 0) this.#connections.delete(address);
    };
    const connection: PeerConnection = new PeerConnection({
      address,
      token,
      worker,
      maxResultBytes,
      onClose,
    });
    open.push(connection);
    this.#connections.set(address, open);
    return connection;
  }
}

function joined(pieces: readonly Fetched[]): Fetched {
  const [only] = pieces;
  if (only !== undefined && pieces.length === 1) return only;
  return {
    results: new Map(pieces.flatMap(({ results }) => [...results])),
    missing: pieces.flatMap(({ missing }) => missing),
    nbytes: pieces.reduce((sum, { nbytes }) => sum + nbytes, 0),
  };
}

function closed(address: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_PEER',
    `Results could not be fetched from ${address}: this worker is closing. Tasks that need them run on other workers.`,
  );
}
