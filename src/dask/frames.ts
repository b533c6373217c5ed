// Joins the output of a bridge to frames. A frame has a head, which begins with the length of the payload in four bytes,
// big-endian, and the payload.

/** Holds only the pieces of an incomplete frame. */
export class Frames {
  readonly #headBytes: number;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  /** Bytes of the incomplete frame; before its head is complete, the bytes of a head. */
  #wanted: number;

  constructor(headBytes: number) {
    this.#headBytes = headBytes;
    this.#wanted = headBytes;
  }

  /** Adds bytes, and yields all complete frames. `check` receives the length of each payload before it is complete. */
  *push(
    chunk: Uint8Array,
    check?: (length: number) => void,
  ): Generator<readonly [head: Buffer, payload: Buffer]> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    if (this.#bytes < this.#wanted) return;
    let rest = Buffer.concat(this.#chunks);
    for (;;) {
      const payload = rest.length < this.#headBytes ? 0 : rest.readUInt32BE();
      check?.(payload);
      this.#wanted = this.#headBytes + payload;
      this.#chunks = [rest];
      this.#bytes = rest.length;
      if (rest.length < this.#wanted) return;
      const frame = [
        rest.subarray(0, this.#headBytes),
        rest.subarray(this.#headBytes, this.#wanted),
      ] as const;
      rest = rest.subarray(this.#wanted);
      yield frame;
    }
  }
}
