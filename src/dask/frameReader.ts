// The frames of the bridge: four bytes of length, big-endian, and so many bytes of msgpack, a list of rows.

import { damagedRow } from '../protocol/daskCells.js';

import { type DaskRow, parseDaskRow } from '../protocol/daskRows.js';
import { unpackValue } from '../trace/formats/dasf/msgpack.js';

const HEADER = 4;
/** More than a graph of ten million tasks: a length beyond it is damage. */
const MAX_FRAME = 2 ** 30;

/** Holds what has come of a frame that is not whole, and no more. */
export class FrameReader {
  #parts: Uint8Array[] = [];
  #held = 0;
  /** Bytes of the frame that is coming, its header included; 0: not known yet. */
  #wanted = 0;

  /** The rows of all frames that are whole now. Throws LongpoleError ERR_LONGPOLE_DASK_BRIDGE for bytes that are none. */
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

  /** Whether a frame has begun that never ended. */
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
  if (!Array.isArray(value)) damagedRow('a frame is no list of rows');
  for (const row of value) yield parseDaskRow(row);
}
