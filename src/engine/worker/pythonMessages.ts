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

/**
 * Yields the messages of a stream, up to its end or an incomplete message. `onHead` receives the head of a message before
 * its buffers have arrived.
 */
export async function* readMessages<Head extends MessageHead>(
  stream: AsyncIterable<Uint8Array>,
  onHead?: (head: Head) => void,
): AsyncGenerator<{ readonly head: Head; readonly buffers: readonly ArrayBuffer[] }, undefined> {
  const chunks = stream[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array(0);
  /** Returns the next bytes; undefined at the end of the stream. */
  const take = async (count: number): Promise<ArrayBuffer | undefined> => {
    const bytes = new Uint8Array(count);
    for (let at = 0; at < count; ) {
      if (rest.byteLength === 0) {
        const { done, value } = await chunks.next();
        if (done === true) return undefined;
        rest = value;
      }
      const piece = rest.subarray(0, count - at);
      bytes.set(piece, at);
      rest = rest.subarray(piece.byteLength);
      at += piece.byteLength;
    }
    return bytes.buffer;
  };
  for (;;) {
    const length = await take(LENGTH_BYTES);
    const json = length && (await take(new DataView(length).getUint32(0)));
    if (json === undefined) return;
    const head: Head = JSON.parse(Buffer.from(json).toString());
    onHead?.(head);
    const buffers: ArrayBuffer[] = [];
    for (const count of head.buffers) {
      const buffer = await take(count);
      if (buffer === undefined) return;
      buffers.push(buffer);
    }
    yield { head, buffers };
  }
}
