// Encodes messages for byte streams. A packet has four bytes of length, two numbers of six bytes, all big-endian, and a
// structured clone. routedMessages.ts sets the numbers.
import { deserialize, serialize } from 'node:v8';
import { SplitBytes } from '../../base/splitBytes.js';

const LENGTH_BYTES = 4;
const NUMBER_BYTES = 6;
const HEAD_BYTES = LENGTH_BYTES + 2 * NUMBER_BYTES;

/** `M` is the type of the messages that the other side sends. */
export interface Packet<M> {
  /** Number of the message in its direction, from 1; 0 for a message without a place in the order. */
  readonly number: number;
  /** Number of messages that the sender of the packet has received in order. */
  readonly received: number;
  readonly message: M;
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

/** Decodes a stream of bytes. */
export class MessageDecoder<M> {
  readonly #packets = new SplitBytes(HEAD_BYTES);

  *push(chunk: Uint8Array): Generator<Packet<M>> {
    for (const [head, body] of this.#packets.push(chunk))
      yield {
        number: numberAt(head, LENGTH_BYTES),
        received: numberAt(head, LENGTH_BYTES + NUMBER_BYTES),
        message: deserialize(body),
      };
  }
}

function numberAt(head: DataView, at: number): number {
  return head.getUint16(at) * 2 ** 32 + head.getUint32(at + 2);
}
