// A connection to a peer, over which results are fetched. Requests share it; when it breaks, all of them fail.

import type { Socket } from 'node:net';
import { isError, LongpoleError, messageOf, sentenceOf } from '../../base/errors.js';
import type { ResultId } from '../../protocol/packedResult.js';
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
  type Hello,
  malformed,
  REQUEST,
  RESULT,
} from './transferMessages.js';

export interface ConnectionOptions extends Hello {
  readonly address: string;
  readonly maxResultBytes: number;
  readonly onClose: () => void;
}

/**
 * The system's buffer of a unix socket gives up to 219 KB at a time. Reading into one warm buffer and copying from it
 * is 1.1 to 1.3 times faster than reading into new memory. The system call would have to map new pages.
 */
const READ_BYTES = 256 * 1024;

export class PeerConnection {
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #reader = new MessageReader((type, body) => this.#message(type, body));
  readonly #pending = new Map<number, PendingFetch>();
  #requests = 0;
  #lastByte = performance.now();
  /** Whether the peer has answered, or is on this machine. A proxy accepts connections also if the peer cannot be reached. */
  #isReached: boolean;
  #isAccepted = false;
  #error: LongpoleError | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#isReached = !isOnNetwork(options.address);
    this.#socket = connectToPeer(options.address, options.token, {
      buffer: new Uint8Array(READ_BYTES),
      callback: (count, buffer) => this.#received(buffer.subarray(0, count)),
    });
    this.#socket.once('connect', () => {
      this.#isAccepted = true;
    });
    this.#socket.on('error', (error) => this.#break(error.message, error));
    this.#socket.on('close', () => this.#break('it has closed the connection'));
    this.#socket.write(encodeHello(options));
  }

  /** Number of unanswered requests. */
  get load(): number {
    return this.#pending.size;
  }

  /**
   * Rejects with ERR_LONGPOLE_PEER, also after `timeoutMs` without a byte from the peer, or with ERR_LONGPOLE_UNREACHABLE if
   * no byte has ever come over this connection from another machine. `ids` are different from each other, and at most MAX_IDS.
   */
  request(ids: readonly ResultId[], timeoutMs: number): Promise<Fetched> {
    if (this.#error !== undefined) return Promise.reject(this.#error);
    this.#requests = (this.#requests + 1) % 2 ** 32;
    const request = this.#requests;
    return new Promise((resolve, reject) => {
      const sent = performance.now();
      let timer = setTimeout(checkSilence, timeoutMs);
      const pending = new PendingFetch(ids, (result) => {
        if (this.#pending.get(request) !== pending) return;
        // An error of the peer makes the rest of the stream unusable.
        if (isError(result) && this.#error === undefined) {
          this.#break(result.message, result);
          return;
        }
        this.#pending.delete(request);
        clearTimeout(timer);
        if (this.#pending.size === 0) this.#socket.unref();
        if (isError(result)) reject(result);
        else resolve(result);
      });
      const connection = this;
      function checkSilence(): void {
        const left = timeLeft();
        // Timers run before reads. After a pause of this process, the answer may be waiting to be read.
        if (left > 0) timer = setTimeout(checkSilence, left);
        else setImmediate(giveUp);
      }
      function giveUp(): void {
        if (connection.#pending.get(request) !== pending) return;
        const left = timeLeft();
        if (left > 0) timer = setTimeout(checkSilence, left);
        else connection.#break(`it has sent nothing for ${timeoutMs / 1000} s`);
      }
      /** Returns the remaining milliseconds. Less than one counts as 0, because timers may fire a millisecond early. */
      function timeLeft(): number {
        const left = timeoutMs - (performance.now() - Math.max(sent, connection.#lastByte));
        return left <= 1 ? 0 : left;
      }
      this.#pending.set(request, pending);
      this.#socket.ref();
      this.#socket.write(encodeIds(REQUEST, { request, ids }));
    });
  }

  /** Closes the connection. All requests fail. */
  close(why: string): void {
    this.#break(why);
  }

  #received(bytes: Uint8Array): boolean {
    this.#lastByte = performance.now();
    this.#isReached = true;
    try {
      this.#reader.push(bytes);
    } catch (error) {
      this.#break(messageOf(error), error);
    }
    return true;
  }

  #message(type: number, body: Uint8Array): Payload | undefined {
    if (type === RESULT) {
      const head = decodeResult(body, this.#options.maxResultBytes);
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

  #break(why: string, cause?: unknown): void {
    if (this.#error !== undefined) return;
    const { address, onClose } = this.#options;
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
    onClose();
    for (const pending of [...this.#pending.values()]) pending.fail(this.#error);
  }
}
