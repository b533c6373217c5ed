// Reads the frames of the bridge: a length of four bytes, big-endian, and a list of rows in msgpack of that length.
import { damagedRow } from '../protocol/daskCells.js';
import { type DaskRow, parseDaskRow } from '../protocol/daskRows.js';
import { unpackValue } from '../trace/formats/dasf/msgpack.js';

const HEADER = 4;
/** Maximum number of bytes in a frame, more than a graph of ten million tasks needs. A longer frame is damaged. */
const MAX_FRAME = 2 ** 30;

/** Joins pieces to frames. Holds only the pieces of an incomplete frame. */
export class FrameReader {
  #parts: Uint8Array[] = [];
  #held = 0;
  /** Bytes of the incomplete frame with its header; 0 if unknown. */
  #wanted = 0;

  /**
   * Adds bytes, and yields the rows of all complete frames.
   *
   * @throws LongpoleError ERR_LONGPOLE_DASK_BRIDGE for damaged frames
   */
  *push(bytes: Uint8Array): Generator<DaskRow> {
    this.#parts.push(bytes);
    this.#held += bytes.length;
    for (;;) {
      if (this.#wanted === 0) {
        if (this.#held < HEADER) return;
        const start = this.#joined();
        const length = new DataView(start.buffer, start.byteOffset).getUint32(0);
        if (length > MAX_FRAME) damagedRow(`a frame of ${length} bytes`);
        this.#wanted = HEADER + length;
      }
      if (this.#held < this.#wanted) return;
      const all = this.#joined();
      const frame = all.subarray(HEADER, this.#wanted);
      const rest = all.subarray(this.#wanted);
      this.#parts = rest.length > 0 ? [rest] : [];
      this.#held = rest.length;
      this.#wanted = 0;
      yield* rowsOf(frame);
    }
  }

  /** Whether a frame is incomplete. */
  get isTorn(): boolean {
    return this.#held > 0;
  }

  #joined(): Uint8Array {
    const [first] = this.#parts;
    if (first !== undefined && this.#parts.length === 1) return first;
    const all = new Uint8Array(this.#held);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    this.#parts = [all];
    return all;
  }
}

function* rowsOf(frame: Uint8Array): Generator<DaskRow> {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const value = unpackValue(frame, view, 0, frame.length);
  if (!Array.isArray(value)) damagedRow('a frame is not a list of rows');
  for (const row of value) yield parseDaskRow(row);
}
