// Encodes messages for byte streams. A packet has four bytes of length, two numbers of six bytes, all big-endian, and a
// structured clone. routedMessages.ts sets the numbers.
import { deserialize, serialize } from 'node:v8';

const LENGTH_BYTES = 4;
const NUMBER_BYTES = 6;
const HEAD_BYTES = LENGTH_BYTES + 2 * NUMBER_BYTES;

export interface Packet {
  /** Number of the message in its direction, from 1; 0 for a message without a place in the order. */
  readonly number: number;
  /** Number of messages that the sender of the packet has received in order. */
  readonly received: number;
  readonly message: unknown;
}

/** Encodes a message with the number 0. Throws if the message cannot be cloned. */
export function encodeMessage(message: unknown): Buffer {
  const body = serialize(message);
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + body.byteLength);
  bytes.writeUInt32BE(body.byteLength);
  bytes.fill(0, LENGTH_BYTES, HEAD_BYTES);
  bytes.set(body, HEAD_BYTES);
  return bytes;
}

/** Sets the numbers of an encoded message. */
export function setNumbers(packet: Buffer, number: number, received: number): void {
  packet.writeUIntBE(number, LENGTH_BYTES, NUMBER_BYTES);
  packet.writeUIntBE(received, LENGTH_BYTES + NUMBER_BYTES, NUMBER_BYTES);
}

/**
 * Decodes a stream of bytes. Each message has separate memory, so that keeping a part of it does not keep other
 * messages.
 */
export class MessageDecoder {
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #head: Buffer | undefined;

  *push(chunk: Uint8Array): Generator<Packet> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    for (;;) {
      if (this.#head === undefined && this.#bytes < HEAD_BYTES) return;
      this.#head ??= Buffer.from(this.#take(HEAD_BYTES).buffer);
      const head = this.#head;
      const length = head.readUInt32BE();
      if (this.#bytes < length) return;
      this.#head = undefined;
      yield {
        number: head.readUIntBE(LENGTH_BYTES, NUMBER_BYTES),
        received: head.readUIntBE(LENGTH_BYTES + NUMBER_BYTES, NUMBER_BYTES),
        message: deserialize(this.#take(length)),
      };
    }
  }

  #take(count: number): Uint8Array<ArrayBuffer> {
    const taken = new Uint8Array(count);
    for (let at = 0; at < count; ) {
      const [first = taken] = this.#chunks;
      const part = first.subarray(0, count - at);
      taken.set(part, at);
      at += part.byteLength;
      if (part.byteLength === first.byteLength) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(part.byteLength);
    }
    this.#bytes -= count;
    return taken;
  }
}
