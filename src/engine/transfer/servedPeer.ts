// One peer that fetches results from this worker: reads its requests, and sends results as fast as the peer reads
// them.

import { timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Transfer } from '../../protocol/clusterObserver.js';
import { type PackedResult, packedBytes, type ResultId } from '../../protocol/packedResult.js';
import { MessageReader } from './messageReader.js';
import type { OpenTransfers } from './openTransfers.js';
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

/** Source of results, e.g. a Store. */
export interface ResultSource {
  get(id: ResultId): PackedResult | Promise<PackedResult> | undefined;
}

export interface Serving {
  readonly source: ResultSource;
  readonly token: string;
  /** Returns the time in seconds. */
  readonly now: () => number;
  /** Results that are being sent to any peer. */
  readonly open: OpenTransfers;
  /** Milliseconds in which a peer must greet, and must read some of the sent bytes. */
  readonly stallMs: number;
  /** Receives a connection for messages of the worker process; undefined if there are none. */
  readonly onMessages?: ((socket: Socket) => void) | undefined;
  /** Called when a request has been answered. */
  readonly sent: (transfer: Sent) => void;
}

export type Sent = Pick<Transfer, 'peer' | 'nbytes' | 'start' | 'stop'> & {
  readonly ids: readonly ResultId[];
};

export class ServedPeer {
  readonly #socket: Socket;
  readonly #serving: Serving;
  readonly #out: OutputStage;
  /** Index of the worker; undefined before its greeting. */
  #worker: number | undefined;

  constructor(socket: Socket, serving: Serving) {
    this.#socket = socket;
    this.#serving = serving;
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
    socket.setTimeout(serving.stallMs, () => {
      if (this.#worker === undefined || socket.writableLength > 0) socket.destroy();
    });
  }

  #message(type: number, body: Uint8Array): undefined {
    if (this.#worker === undefined) {
      if (type !== HELLO) throw malformed('no greeting');
      const { worker, token } = decodeHello(body);
      if (!equal(token, this.#serving.token)) throw malformed('another token');
      this.#worker = worker;
    } else if (type === REQUEST) {
      void this.#answer(decodeIds(body), this.#worker);
    } else if (type === MESSAGES && this.#serving.onMessages !== undefined) {
      this.#socket.removeAllListeners('data').setTimeout(0);
      this.#serving.onMessages(this.#socket);
    } else throw malformed(`a message of type ${type}`);
  }

  /** Answers a request. Never rejects: a peer fetches missing results elsewhere. */
  async #answer({ request, ids }: IdList, peer: number): Promise<void> {
    const open = this.#serving.open.begin(0);
    const start = this.#serving.now();
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
    this.#serving.sent({ peer, ids: sent, nbytes, start, stop: this.#serving.now() });
  }

  async #packedOf(id: ResultId): Promise<PackedResult | undefined> {
    const packed = this.#serving.source.get(id);
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
