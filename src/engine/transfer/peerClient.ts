// Fetches results from peers, over a few connections to each, so that a small result need not wait behind a large one.

import type { Socket } from 'node:net';
import { isError, LongpoleError, messageOf, sentenceOf } from '../../base/errors.js';
import type { Transfer } from '../../protocol/clusterObserver.js';
import type { ResultId } from '../../protocol/packedResult.js';
import { SilenceWatch } from '../silence.js';
import { MessageReader, type Payload } from './messageReader.js';
import { isOnNetwork } from './peerAddress.js';
import { connectToPeer } from './peerSocket.js';
import { type Fetched, PendingFetch } from './pendingFetch.js';
import {
  DONE,
  decodeIds,
  decodeResult,
  encodeHello,
  encodeIds,
  MAX_IDS,
  malformed,
  REQUEST,
  RESULT,
} from './transferMessages.js';

/** Options of both sides of a connection. */
export interface PeerOptions {
  /** The secret of the cluster. A peer without it gets nothing. */
  readonly token: string;
  /** Index of this worker, or -1 for a client. */
  readonly worker: number;
  /** Seconds since the epoch on the scheduler's clock. */
  readonly now: () => number;
  readonly onTransfer?: (transfer: Transfer) => void;
}

export interface PeerClientOptions extends PeerOptions {
  /** Connections to one peer at a time. Default: 4. */
  readonly connections?: number;
  /** Largest result in bytes. Larger ones are refused. Default: 1 TB. */
  readonly maxResultBytes?: number;
  /** Seconds without a byte after which the fetches from a peer fail. Default: 30. */
  readonly timeout?: number;
}

interface FetchOptions {
  /** Index of the peer. Default: -1, unknown. */
  readonly peer?: number;
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
    const { peer = -1, what = 'gather-dep' } = options;
    if (this.#closed) throw closed(address);
    const unique = [...new Set(ids)];
    const start = this.#options.now();
    const pieces: Promise<Fetched>[] = [];
    let ahead = 0;
    for (let at = 0; at < unique.length; at += MAX_IDS) {
      const piece = unique.slice(at, at + MAX_IDS);
      const connection = this.#connection(address);
      if (at === 0) ahead = connection.load;
      pieces.push(connection.request(piece));
    }
    const fetched = joined(await Promise.all(pieces));
    const stop = this.#options.now();
    if (fetched.results.size > 0) {
      const { worker, onTransfer } = this.#options;
      const { nbytes } = fetched;
      const keys = [...fetched.results.keys()].map(String);
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
    const connection: PeerConnection = new PeerConnection(address, this.#options, () => {
      open.splice(open.indexOf(connection), 1);
      if (open.length === 0) this.#connections.delete(address);
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

// A connection to a peer, over which results are fetched. Requests share it; when it breaks, all of them fail.

/**
 * The system's buffer of a unix socket gives up to 219 KB at a time. Reading into one warm buffer and copying from it
 * is 1.1 to 1.3 times faster than reading into new memory. The system call would have to map new pages.
 */
const READ_BYTES = 256 * 1024;

class PeerConnection {
  readonly #address: string;
  readonly #maxResultBytes: number;
  readonly #timeout: number;
  readonly #onClose: () => void;
  readonly #socket: Socket;
  readonly #reader = new MessageReader((type, body) => this.#message(type, body));
  readonly #pending = new Map<number, PendingFetch>();
  /** Present while there are unanswered requests. */
  #silence: SilenceWatch | undefined;
  #requests = 0;
  /** Whether the peer has answered, or is on this machine. A proxy accepts connections also if the peer cannot be reached. */
  #isReached: boolean;
  #isAccepted = false;
  #error: LongpoleError | undefined;

  constructor(address: string, options: PeerClientOptions, onClose: () => void) {
    this.#address = address;
    this.#maxResultBytes = options.maxResultBytes ?? MAX_RESULT_BYTES;
    this.#timeout = options.timeout ?? 30;
    this.#onClose = onClose;
    this.#isReached = !isOnNetwork(address);
    this.#socket = connectToPeer(address, options.token, {
      buffer: new Uint8Array(READ_BYTES),
      callback: (count, buffer) => this.#received(buffer.subarray(0, count)),
    });
    this.#socket.once('connect', () => {
      this.#isAccepted = true;
    });
    this.#socket.on('error', (error) => this.close(error.message, error));
    this.#socket.on('close', () => this.close('it has closed the connection'));
    this.#socket.write(encodeHello(options));
  }

  /** Number of unanswered requests. */
  get load(): number {
    return this.#pending.size;
  }

  /**
   * Rejects with ERR_LONGPOLE_PEER, also at the time limit without a byte from the peer, or with ERR_LONGPOLE_UNREACHABLE if
   * no byte has ever come over this connection from another machine. `ids` are different from each other, and at most MAX_IDS.
   */
  request(ids: readonly ResultId[]): Promise<Fetched> {
    if (this.#error !== undefined) return Promise.reject(this.#error);
    this.#requests = (this.#requests + 1) % 2 ** 32;
    const request = this.#requests;
    return new Promise((resolve, reject) => {
      const pending = new PendingFetch(ids, (result) => {
        if (this.#pending.get(request) !== pending) return;
        // An error of the peer makes the rest of the stream unusable.
        if (isError(result) && this.#error === undefined) {
          this.close(result.message, result);
          return;
        }
        this.#pending.delete(request);
        if (this.#pending.size === 0) {
          this.#silence?.close();
          this.#silence = undefined;
          this.#socket.unref();
        }
        if (isError(result)) reject(result);
        else resolve(result);
      });
      this.#pending.set(request, pending);
      this.#silence ??= new SilenceWatch(this.#timeout, 0, () =>
        this.close(`it has sent nothing for ${this.#timeout} s`),
      );
      this.#socket.ref();
      this.#socket.write(encodeIds(REQUEST, { request, ids }));
    });
  }

  #received(bytes: Uint8Array): boolean {
    this.#silence?.received();
    this.#isReached = true;
    try {
      this.#reader.push(bytes);
    } catch (error) {
      this.close(messageOf(error), error);
    }
    return true;
  }

  #message(type: number, body: Uint8Array): Payload | undefined {
    if (type === RESULT) {
      const head = decodeResult(body, this.#maxResultBytes);
      const pending = this.#pending.get(head.request);
      if (pending === undefined) throw malformed('a result that was not requested');
      return pending.expect(head);
    }
    if (type !== DONE) throw malformed(`a message of type ${type}`);
    const { request, ids } = decodeIds(body);
    const pending = this.#pending.get(request);
    if (pending === undefined) throw malformed('an answer that was not requested');
    pending.end(ids);
    return undefined;
  }

  /** Closes the connection. All requests fail. */
  close(why: string, cause?: unknown): void {
    if (this.#error !== undefined) return;
    const address = this.#address;
    this.#error = this.#isReached
      ? new LongpoleError(
          'ERR_LONGPOLE_PEER',
          `Results could not be fetched from ${address}: ${sentenceOf(why)} If that worker has died, its results are computed again. ` +
            'If it is only slow, use fewer workers.',
          { cause },
        )
      : new LongpoleError(
          'ERR_LONGPOLE_UNREACHABLE',
          this.#isAccepted
            ? `A connection to ${address} was accepted, but there was no answer: ${sentenceOf(why)}`
            : `No connection to ${address} could be opened: ${sentenceOf(why)}`,
          { cause },
        );
    this.#socket.destroy();
    this.#onClose();
    for (const pending of [...this.#pending.values()]) pending.fail(this.#error);
  }
}
