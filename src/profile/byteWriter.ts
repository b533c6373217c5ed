// Writes the bytes of protocol buffers, one after the other.
import { resizedUint8 } from '../base/resized.js';

/** A byte array that grows while it is written. */
export class ByteWriter {
  #bytes = new Uint8Array(1024);
  #length = 0;

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    this.#bytes = resizedUint8(this.#bytes, Math.max(this.#bytes.length * 2, this.#length + count));
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  bytes(values: Uint8Array): void {
    this.#reserve(values.length);
    this.#bytes.set(values, this.#length);
    this.#length += values.length;
  }

  /**
   * Writes a number that is not negative and below 2^63. Nanoseconds since the epoch need more than 53 bits. A double holds
   * them, because they are multiples of 256.
   */
  varint(value: number): void {
    this.#reserve(9);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Returns a copy of the written bytes. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }
}
