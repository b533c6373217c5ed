// Sends the results of a worker to its peers. Runs on the thread that never computes, so that it always answers.
import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { LongpoleError, messageOf } from '../../base/errors.js';
import type { PeerNetwork } from '../../protocol/workerMessages.js';
import { OpenTransfers } from './openTransfers.js';
import { type Endpoint, makeEndpoint } from './peerAddress.js';
import type { PeerOptions } from './peerClient.js';
import { makePeerServer } from './peerSocket.js';
import { type ResultSource, type Sent, ServedPeer } from './servedPeer.js';

export interface PeerServerOptions extends PeerOptions {
  readonly source: ResultSource;
  /** Returns the path of a file in a directory that only this user may enter, e.g. a SpillDirectory's. */
  readonly file: (name: string) => string;
  /** See makeEndpoint. */
  readonly network?: PeerNetwork | undefined;
  /** Name of the socket; different for servers that share a directory. */
  readonly name: string;
  /** Receives connections for messages of the worker process, see remoteChannel.ts. */
  readonly onMessages?: ((socket: Socket) => void) | undefined;
}

/** Seconds after which a peer is disconnected that reads nothing, or does not greet. */
const STALL_AFTER = 60;

export class PeerServer {
  readonly #options: PeerServerOptions;
  readonly #endpoint: Endpoint;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Results that are being sent. */
  readonly open = new OpenTransfers();

  constructor(options: PeerServerOptions) {
    this.#options = options;
    const { file, name, network, token } = options;
    this.#endpoint = makeEndpoint(file, name, network);
    const serve = (socket: Socket): void => this.#serve(socket);
    this.#server = makePeerServer(network?.isEncrypted === true, token, serve, STALL_AFTER);
    // An encrypted connection is served after its handshake.
    this.#server.on('connection', (socket: Socket) => this.#keep(socket));
  }

  /** Address for peers: `unix:///path`, `pipe://name` on Windows, or `tcp://host:port`. */
  get address(): string {
    return this.#endpoint.address(this.#server.address());
  }

  /**
   * Starts listening and returns the address.
   *
   * @throws LongpoleError ERR_LONGPOLE_LOCAL_DIRECTORY if no socket can be created there
   */
  async listen(): Promise<string> {
    try {
      this.#server.listen(this.#endpoint.options);
      await once(this.#server, 'listening');
    } catch (cause) {
      this.#endpoint.remove();
      throw new LongpoleError(
        'ERR_LONGPOLE_LOCAL_DIRECTORY',
        `A worker cannot listen on ${this.address}: ${messageOf(cause)}. ` +
          (this.#options.network !== undefined
            ? 'This is the address of the Dask worker. Start that worker with --host and an address of its machine.'
            : 'Pass another localDirectory.'),
        { cause },
      );
    }
    return this.address;
  }

  /** Stops the server, and aborts transfers in progress. */
  async close(): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, 'close') : undefined;
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    this.#endpoint.remove();
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #serve(socket: Socket): void {
    this.#keep(socket);
    new ServedPeer(socket, {
      ...this.#options,
      open: this.open,
      stallMs: STALL_AFTER * 1000,
      sent: (transfer) => this.#report(transfer),
    });
  }

  #report({ peer, ids, nbytes, start, stop }: Sent): void {
    const { worker, keyOf, onTransfer } = this.#options;
    const keys = ids.map(keyOf);
    onTransfer?.({
      worker,
      peer,
      direction: 'outgoing',
      what: 'get-data',
      keys,
      nbytes,
      compressed: nbytes,
      start,
      stop,
    });
  }
}
