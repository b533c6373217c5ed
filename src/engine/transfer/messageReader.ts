// Splits a stream of bytes into messages, and copies the bytes of results into the arrays that the receiver provides.
import { resizedUint8 } from '../../base/resized.js';
import { HEAD_BYTES, MAX_BODY_BYTES, malformed, VERSION } from './transferMessages.js';

/** Destination of the bytes that follow a message. */
export interface Payload {
  readonly targets: readonly Uint8Array[];
  /** Called when all of the bytes have arrived. */
  readonly done: () => void;
}

/** Called for each message; `body` is valid only during the call. */
export type OnMessage = (type: number, body: Uint8Array) => Payload | undefined;

export class MessageReader {
  readonly #onMessage: OnMessage;
  /** The beginning of an incomplete message. */
  #begun = new Uint8Array(1024);
  #begunLength = 0;
  #payload: Payload | undefined;
  #target = 0;
  #filled = 0;

  constructor(onMessage: OnMessage) {
    this.#onMessage = onMessage;
  }

  /** Takes the next bytes. Throws ERR_LONGPOLE_PEER if the bytes are not messages; the stream is unusable then. */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.byteLength; ) {
      at =
        this.#payload === undefined
          ? this.#readMessage(chunk, at)
          : this.#readPayload(this.#payload, chunk, at);
    }
  }

  #readMessage(chunk: Uint8Array, at: number): number {
    if (this.#begunLength === 0) {
      const length = messageLength(chunk, at);
      if (length !== undefined && at + length <= chunk.byteLength) {
        this.#take(chunk.subarray(at, at + length));
        return at + length;
      }
    }
    const known = messageLength(this.#begun.subarray(0, this.#begunLength), 0) ?? HEAD_BYTES;
    const count = Math.min(known - this.#begunLength, chunk.byteLength - at);
    this.#keep(chunk.subarray(at, at + count));
    const length = messageLength(this.#begun.subarray(0, this.#begunLength), 0);
    if (length === this.#begunLength) {
      this.#begunLength = 0;
      this.#take(this.#begun.subarray(0, length));
    }
    return at + count;
  }

  #keep(bytes: Uint8Array): void {
    const length = this.#begunLength + bytes.byteLength;
    if (length > this.#begun.byteLength)
      this.#begun = resizedUint8(this.#begun, Math.max(length, 2 * this.#begun.byteLength));
    this.#begun.set(bytes, this.#begunLength);
    this.#begunLength = length;
  }

  #take(message: Uint8Array): void {
    this.#target = 0;
    this.#filled = 0;
    this.#payload = this.#onMessage(message[0]!, message.subarray(HEAD_BYTES));
    if (this.#payload !== undefined) this.#finishTargets(this.#payload);
  }

  #readPayload(payload: Payload, chunk: Uint8Array, at: number): number {
    const target = payload.targets[this.#target]!;
    const count = Math.min(target.byteLength - this.#filled, chunk.byteLength - at);
    target.set(chunk.subarray(at, at + count), this.#filled);
    this.#filled += count;
    this.#finishTargets(payload);
    return at + count;
  }

  #finishTargets(payload: Payload): void {
    const { targets, done } = payload;
    while (this.#target < targets.length && this.#filled === targets[this.#target]!.byteLength) {
      this.#target += 1;
      this.#filled = 0;
    }
    if (this.#target < targets.length) return;
    this.#payload = undefined;
    done();
  }
}

/** Returns the length of the message that begins at `at`; undefined if its head is incomplete. */
function messageLength(bytes: Uint8Array, at: number): number | undefined {
  if (bytes.byteLength - at < HEAD_BYTES) return undefined;
  if (bytes[at + 1] !== VERSION) throw malformed(`its protocol has version ${bytes[at + 1]}, not ${VERSION}`);
  const length = new DataView(bytes.buffer, bytes.byteOffset + at, HEAD_BYTES).getUint32(4, true);
  if (length > MAX_BODY_BYTES) throw malformed(`a message has a stated length of ${length} bytes`);
  return HEAD_BYTES + length;
}
