// Joins the output of a bridge to frames. A frame has a head, which begins with the length of the payload in four bytes,
// big-endian, and the payload.

import { damagedRow } from '../protocol/daskCells.js';
import { type DaskRow, parseDaskRow } from '../protocol/daskRows.js';
import { unpackValue } from '../trace/formats/dasf/msgpack.js';

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

/** Size of a frame's length, big-endian. */
const HEADER = 4;
/** Maximum number of bytes in a frame, more than a graph of ten million tasks needs. A longer frame is damaged. */
const MAX_FRAME = 2 ** 30;

/** Reads the frames of the bridge: a length, and a list of rows in msgpack of that length. */
export class FrameReader {
  readonly #frames = new Frames(HEADER);

  /**
   * Adds bytes, and yields the rows of all complete frames.
   *
   * @throws LongpoleError ERR_LONGPOLE_DASK_BRIDGE for damaged frames
   */
  *push(bytes: Uint8Array): Generator<DaskRow> {
    for (const [, frame] of this.#frames.push(bytes, checkLength)) yield* rowsOf(frame);
  }
}

function checkLength(length: number): void {
  if (length > MAX_FRAME) damagedRow(`a frame of ${length} bytes`);
}

function* rowsOf(frame: Uint8Array): Generator<DaskRow> {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const value = unpackValue(frame, view, 0, frame.length);
  if (!Array.isArray(value)) damagedRow('a frame is not a list of rows');
  for (const row of value) yield parseDaskRow(row);
}
