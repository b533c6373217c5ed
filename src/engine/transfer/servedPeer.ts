// One peer that fetches results from this worker: reads its requests, and sends results as fast as it takes them.
import { timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Transfer } from '../../protocol/clusterObserver.js';
import { type Frames, framesBytes, type ResultId } from '../../protocol/frames.js';
import { compressFrames, type PackedFrames, plainFrame, sampleRatio } from '../store/compression.js';
import { type LinkSpeed, MIN_SAMPLE_BYTES } from './linkSpeed.js';
import { MessageReader } from './messageReader.js';
import type { OpenTransfers } from './openTransfers.js';
import { OutputStage } from './outputStage.js';
import {
  CANCEL,
  DONE,
  decodeCancel,
  decodeHello,
  decodeIds,
  encodeIds,
  encodeResult,
  HELLO,
  type IdList,
  malformed,
  REQUEST,
} from './transferMessages.js';

/** Where results come from; a Store is one. */
export interface ResultSource {
  get(id: ResultId): Frames | Promise<Frames> | undefined;
}

export interface Serving {
  readonly source: ResultSource;
  readonly token: string;
  /** Seconds. */
  readonly now: () => number;
  readonly speed: LinkSpeed;
  /** What is being sent to any peer. */
  readonly open: OpenTransfers;
  /** Milliseconds in which a peer must greet, and must have taken some of what is sent. */
  readonly stallMs: number;
  /** A request has been answered. */
  readonly sent: (transfer: Sent) => void;
}

export type Sent = Pick<Transfer, 'peer' | 'nbytes' | 'compressed' | 'start' | 'stop'> & {
  readonly ids: readonly ResultId[];
};

interface Answer {
  cancelled: boolean;
}

export class ServedPeer {
  readonly #socket: Socket;
  readonly #serving: Serving;
  readonly #out: OutputStage;
  readonly #answers = new Map<number, Answer>();
  /** Index of the worker; undefined until it has greeted. */
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
        // Whoever it is does not speak our language.
        socket.destroy();
      }
    });
    // The peer finds out by itself; nothing of it is left here.
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
    } else if (type === CANCEL) {
      const answer = this.#answers.get(decodeCancel(body));
      if (answer !== undefined) answer.cancelled = true;
    } else throw malformed(`a message of type ${type}`);
  }

  /** Never rejects: what a peer does not get it asks for elsewhere. */
  async #answer({ request, ids }: IdList, peer: number): Promise<void> {
    const answer: Answer = { cancelled: false };
    this.#answers.set(request, answer);
    const open = this.#serving.open.begin(0);
    const start = this.#serving.now();
    const sent: ResultId[] = [];
    const missing: ResultId[] = [];
    let nbytes = 0;
    let compressed = 0;
    for (const id of ids) {
      if (answer.cancelled || this.#socket.destroyed) break;
      const frames = await this.#framesOf(id);
      if (frames === undefined) {
        missing.push(id);
        continue;
      }
      open.add(framesBytes(frames));
      compressed += await this.#send(request, id, frames);
      nbytes += framesBytes(frames);
      sent.push(id);
    }
    this.#answers.delete(request);
    this.#out.append(encodeIds(DONE, { request, ids: missing }));
    const arrived = await this.#out.flushed();
    open.end();
    if (!arrived || sent.length === 0) return;
    this.#serving.sent({ peer, ids: sent, nbytes, compressed, start, stop: this.#serving.now() });
  }

  async #framesOf(id: ResultId): Promise<Frames | undefined> {
    const frames = this.#serving.source.get(id);
    if (!(frames instanceof Promise)) return frames;
    this.#out.flush();
    // Whoever owns the results knows of the error.
    return await frames.catch(() => undefined);
  }

  /** Returns the bytes that travel. */
  async #send(request: number, id: ResultId, frames: Frames): Promise<number> {
    const { speed } = this.#serving;
    const packed = speed.couldPay() ? await this.#compress(frames) : plain(frames);
    await this.#out.ready();
    // From here to the last byte in one go: answers to other requests go before or after a result, not into it.
    this.#out.append(encodeResult(request, id, packed));
    const measured = packed.nbytes >= MIN_SAMPLE_BYTES && this.#socket.writableLength === 0;
    const start = performance.now();
    for (const { parts } of packed.frames) for (const { bytes } of parts) this.#out.append(bytes);
    if (measured) {
      void this.#out.flushed().then((arrived) => {
        if (arrived) speed.travelled(packed.nbytes, (performance.now() - start) / 1000);
      });
    }
    return packed.nbytes;
  }

  async #compress(frames: Frames): Promise<PackedFrames> {
    const { speed } = this.#serving;
    let nbytes = 0;
    const packed = await compressFrames(frames, (bytes) => {
      const pays = speed.pays(sampleRatio(bytes));
      if (pays) nbytes += bytes.byteLength;
      return pays;
    });
    speed.compressed(nbytes, packed.seconds);
    return packed;
  }
}

function plain(frames: Frames): PackedFrames {
  return {
    frames: [frames.header, ...frames.buffers].map(plainFrame),
    nbytes: framesBytes(frames),
    seconds: 0,
  };
}

function equal(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.byteLength === other.byteLength && timingSafeEqual(one, other);
}
