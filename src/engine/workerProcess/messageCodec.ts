// Encodes messages for byte streams: four bytes of length, big-endian, and a structured clone.
import { deserialize, serialize } from 'node:v8';

const LENGTH_BYTES = 4;

/** Encodes a message. Throws if the message cannot be cloned. */
export function encodeMessage(message: unknown): Uint8Array {
  const body = serialize(message);
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + body.byteLength);
  bytes.writeUInt32BE(body.byteLength);
  bytes.set(body, LENGTH_BYTES);
  return bytes;
}

/**
 * Decodes a stream of bytes. Each message has separate memory, so that keeping a part of it does not keep other
 * messages.
 */
export class MessageDecoder {
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;

  *push(chunk: Uint8Array): Generator<unknown> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    for (;;) {
      const length = this.#length();
      if (length === undefined || this.#bytes < LENGTH_BYTES + length) return;
      this.#take(LENGTH_BYTES);
      yield deserialize(this.#take(length));
    }
  }

  #length(): number | undefined {
    if (this.#bytes < LENGTH_BYTES) return undefined;
    const head = this.#take(LENGTH_BYTES);
    this.#chunks.unshift(head);
    this.#bytes += LENGTH_BYTES;
    return new DataView(head.buffer, head.byteOffset).getUint32(0);
  }

  #take(count: number): Uint8Array {
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
