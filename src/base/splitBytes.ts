// Splits a stream of bytes into heads and payloads. A head begins with the length of its payload in four bytes,
// big-endian.

/** Holds only the pieces of an incomplete payload. A payload has its own memory, so that keeping it keeps no other bytes. */
export class SplitBytes {
  readonly #headBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #head: DataView | undefined;

  constructor(headBytes: number) {
    this.#headBytes = headBytes;
  }

  /** Adds bytes, and yields all complete payloads with their heads. `check` receives the length of each payload before it is complete. */
  *push(
    chunk: Uint8Array,
    check?: (length: number) => void,
  ): Generator<readonly [head: DataView, payload: Uint8Array]> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    for (;;) {
      if (this.#head === undefined) {
        if (this.#bytes < this.#headBytes) return;
        this.#head = new DataView(this.#take(this.#headBytes).buffer);
        check?.(this.#head.getUint32(0));
      }
      const head = this.#head;
      const length = head.getUint32(0);
      if (this.#bytes < length) return;
      this.#head = undefined;
      yield [head, this.#take(length)];
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
