// Messages between Node and Python on a stream: the length of JSON in four bytes, big-endian, the JSON, and buffers of the
// lengths in the JSON. python/longpole_dask/messages.py has the counterpart.
import type { Socket } from 'node:net';
import type { Encoded } from './pythonValues.js';

/** JSON of a message. `buffers` has the lengths of the buffers that follow. */
export interface MessageHead {
  readonly buffers: readonly number[];
}

const LENGTH_BYTES = 4;

/** Sends a message. Its JSON consists of `head`, and the tree as `value`. */
export function sendMessage(socket: Socket, head: object, { tree, buffers }: Encoded): void {
  const json = Buffer.from(
    JSON.stringify({ ...head, value: tree, buffers: buffers.map(({ byteLength }) => byteLength) }),
  );
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.byteLength);
  socket.cork();
  for (const part of [length, json, ...buffers]) socket.write(part);
  socket.uncork();
}

/** Reads one message from chunks. No chunk contains bytes of a later message. */
export class MessageReader<Head extends MessageHead> {
  readonly buffers: ArrayBuffer[] = [];
  head: Head | undefined;
  isComplete = false;
  readonly #onHead: ((head: Head) => void) | undefined;
  #part = new Uint8Array(LENGTH_BYTES);
  #filled = 0;
  #isLength = true;

  constructor(onHead?: (head: Head) => void) {
    this.#onHead = onHead;
  }

  /** Returns whether the message is complete. */
  push(chunk: Uint8Array): boolean {
    let at = 0;
    while (!this.isComplete) {
      const size = Math.min(chunk.byteLength - at, this.#part.byteLength - this.#filled);
      this.#part.set(chunk.subarray(at, at + size), this.#filled);
      at += size;
      this.#filled += size;
      if (this.#filled < this.#part.byteLength) return false;
      this.#ended();
    }
    return true;
  }

  /** Starts the next part. */
  #ended(): void {
    const { buffer } = this.#part;
    this.#filled = 0;
    if (this.#isLength) {
      this.#isLength = false;
      this.#part = new Uint8Array(new DataView(buffer).getUint32(0));
      return;
    }
    if (this.head === undefined) {
      const head: Head = JSON.parse(Buffer.from(buffer).toString());
      this.head = head;
      this.#onHead?.(head);
    } else this.buffers.push(buffer);
    const length = this.head.buffers[this.buffers.length];
    if (length === undefined) this.isComplete = true;
    else this.#part = new Uint8Array(length);
  }
}
