// Sends the results of a worker to its peers. Runs on the thread that never computes, so that it always answers.

import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { adviceFor, LongpoleError, sentenceOf } from '../../base/errors.js';
import { type PackedResult, packedBytes, type ResultId } from '../../protocol/packedResult.js';
import type { PeerNetwork } from '../../protocol/workerMessages.js';
import type { Store } from '../store/store.js';
import { MessageReader } from './messageReader.js';
import { OpenTransfers } from './openTransfers.js';
import { type Endpoint, makeEndpoint } from './peerAddress.js';
import type { PeerOptions } from './peerClient.js';
import { makePeerServer } from './peerSocket.js';
import {
  DONE,
  decodeHello,
  decodeIds,
  encodeIds,
  encodeResult,
  HELLO,
  type IdList,
  MESSAGES,
  malformed,
  REQUEST,
} from './transferMessages.js';

export interface PeerServerOptions extends PeerOptions {
  readonly source: Pick<Store, 'get'>;
  /** Returns the path of a file in a directory that only this user may enter, e.g. a SpillDirectory's. */
  readonly file: (name: string) => string;
  /** See makeEndpoint. */
  readonly network?: PeerNetwork | undefined;
  /** Name of the socket; different for servers that share a directory. */
  readonly name: string;
  /** Receives connections for messages of the worker process, see remoteChannel.ts. */
  readonly onMessages?: ((socket: Socket) => void) | undefined;
}

/** Seconds in which a peer must greet, and must read some of the sent bytes. */
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
        `A worker cannot listen on ${this.address}: ${sentenceOf(cause)} ` +
          (this.#options.network !== undefined
            ? 'This is the address of the Dask worker. Start that worker with --host and an address of its machine.'
            : adviceFor(cause, 'Pass another localDirectory.')),
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
    new ServedPeer(socket, this.#options, this.open);
  }
}

/** One peer that fetches results: reads its requests, and sends results as fast as the peer reads them. */
class ServedPeer {
  readonly #socket: Socket;
  readonly #options: PeerServerOptions;
  /** Results that are being sent to any peer. */
  readonly #open: OpenTransfers;
  readonly #out: OutputStage;
  /** Index of the worker; undefined before its greeting. */
  #worker: number | undefined;

  constructor(socket: Socket, options: PeerServerOptions, open: OpenTransfers) {
    this.#socket = socket;
    this.#options = options;
    this.#open = open;
    this.#out = new OutputStage(socket);
    const reader = new MessageReader((type, body) => this.#message(type, body));
    socket.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch {
        // The other side does not use this protocol.
        socket.destroy();
      }
    });
    // The peer notices the error itself; nothing of it remains here.
    socket.on('error', () => undefined);
    socket.setTimeout(STALL_AFTER * 1000, () => {
      if (this.#worker === undefined || socket.writableLength > 0) socket.destroy();
    });
  }

  #message(type: number, body: Uint8Array): undefined {
    if (this.#worker === undefined) {
      if (type !== HELLO) throw malformed('no greeting');
      const { worker, token } = decodeHello(body);
      if (!equal(token, this.#options.token)) throw malformed('another token');
      this.#worker = worker;
    } else if (type === REQUEST) {
      void this.#answer(decodeIds(body), this.#worker);
    } else if (type === MESSAGES && this.#options.onMessages !== undefined) {
      this.#socket.removeAllListeners('data').setTimeout(0);
      this.#options.onMessages(this.#socket);
    } else throw malformed(`a message of type ${type}`);
  }

  /** Answers a request. Never rejects: a peer fetches missing results elsewhere. */
  async #answer({ request, ids }: IdList, peer: number): Promise<void> {
    const open = this.#open.begin(0);
    const start = this.#options.now();
    const sent: ResultId[] = [];
    const missing: ResultId[] = [];
    let nbytes = 0;
    for (const id of ids) {
      if (this.#socket.destroyed) break;
      const packed = await this.#packedOf(id);
      if (packed === undefined) {
        missing.push(id);
        continue;
      }
      open.add(packedBytes(packed));
      await this.#send(request, id, packed);
      nbytes += packedBytes(packed);
      sent.push(id);
    }
    this.#out.append(encodeIds(DONE, { request, ids: missing }));
    const arrived = await this.#out.flushed();
    open.end();
    if (!arrived || sent.length === 0) return;
    const { worker, now, onTransfer } = this.#options;
    onTransfer?.({
      worker,
      peer,
      direction: 'outgoing',
      what: 'get-data',
      keys: sent.map(String),
      nbytes,
      compressed: nbytes,
      start,
      stop: now(),
    });
  }

  async #packedOf(id: ResultId): Promise<PackedResult | undefined> {
    const packed = this.#options.source.get(id);
    if (!(packed instanceof Promise)) return packed;
    this.#out.flush();
    // The owner of the results handles the error.
    return await packed.catch(() => undefined);
  }

  async #send(request: number, id: ResultId, { header, buffers }: PackedResult): Promise<void> {
    const parts = [header, ...buffers];
    await this.#out.ready();
    // No wait from here to the last byte, so that no other answer gets between the buffers of a result.
    this.#out.append(encodeResult({ request, id, lengths: parts.map(({ byteLength }) => byteLength) }));
    for (const bytes of parts) this.#out.append(bytes);
  }
}

function equal(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.byteLength === other.byteLength && timingSafeEqual(one, other);
}

const STAGE_BYTES = 64 * 1024;
/** Bytes above which a piece is not copied. */
const COPY_BYTES = 16 * 1024;

class OutputStage {
  readonly #socket: Socket;
  #stage: Uint8Array | undefined;
  #staged = 0;
  #waiting: (() => void)[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
    const wake = (): void => {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const resolve of waiting) resolve();
    };
    socket.on('drain', wake);
    socket.on('close', wake);
  }

  /** Appends bytes without waiting; see `ready`. */
  append(bytes: Uint8Array): void {
    if (bytes.byteLength > COPY_BYTES) {
      this.flush();
      this.#write(bytes);
      return;
    }
    if (this.#staged + bytes.byteLength > STAGE_BYTES) this.flush();
    // The socket keeps the buffers that it was given, so each stage is used once.
    this.#stage ??= new Uint8Array(STAGE_BYTES);
    this.#stage.set(bytes, this.#staged);
    this.#staged += bytes.byteLength;
  }

  flush(): void {
    if (this.#stage === undefined) return;
    const bytes = this.#stage.subarray(0, this.#staged);
    this.#stage = undefined;
    this.#staged = 0;
    this.#write(bytes);
  }

  /** Resolves when the system has taken enough of the output, or the connection is gone. */
  async ready(): Promise<void> {
    while (this.#socket.writableNeedDrain && !this.#socket.destroyed) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Resolves with true when the system has taken all output so far; with false if the connection is gone. */
  flushed(): Promise<boolean> {
    this.flush();
    return new Promise((resolve) => {
      if (this.#socket.destroyed) resolve(false);
      else this.#socket.write('', (error) => resolve(error === undefined || error === null));
    });
  }

  #write(bytes: Uint8Array): void {
    if (!this.#socket.destroyed && bytes.byteLength > 0) this.#socket.write(bytes);
  }
}
