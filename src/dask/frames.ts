// Reads the rows of a bridge that observes a cluster.
import { SplitBytes } from '../base/splitBytes.js';
import { damagedRow } from '../protocol/daskCells.js';
import { type DaskRow, parseDaskRow } from '../protocol/daskRows.js';
import { unpackValue } from '../trace/formats/dasf/msgpack.js';

/** Size of a frame's length, big-endian. */
const HEADER = 4;
/** Maximum number of bytes in a frame, more than a graph of ten million tasks needs. A longer frame is damaged. */
const MAX_FRAME = 2 ** 30;

/** Reads the frames of the bridge: a length, and a list of rows in msgpack of that length. */
export class FrameReader {
  readonly #frames = new SplitBytes(HEADER);

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
