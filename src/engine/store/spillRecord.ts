// Format of a result in a spill file: the stored parts of its buffers, one after the other, then a table of their
// lengths. Everything that is read is checked, because a bit error of a disk must not become a wrong number in a
// result.
import { crc32 } from 'node:zlib';
import type { Bytes, ResultId } from '../../protocol/packedResult.js';

/** A part in stored form; compressed if `stored` is less than `nbytes`. */
export interface StoredPart {
  readonly nbytes: number;
  readonly stored: number;
  /** Checksum of the stored bytes. */
  readonly checksum: number;
}

export interface StoredBuffer {
  readonly nbytes: number;
  readonly parts: readonly StoredPart[];
}

/**
 * The table, little endian: this number, the result's id, the number of buffers; for each buffer its bytes and parts;
 * for each part three numbers.
 */
const MAGIC = 0x4c53504c;
const HEAD_BYTES = 16;
const BUFFER_BYTES = 12;
const PART_BYTES = 12;
/** Bytes of the table's own checksum, at its end. */
const CHECKSUM_BYTES = 4;

export function checksum(bytes: Bytes): number {
  return crc32(bytes);
}

export function encodeSpillTable(id: ResultId, buffers: readonly StoredBuffer[]): Uint8Array<ArrayBuffer> {
  const parts = buffers.reduce((sum, buffer) => sum + buffer.parts.length, 0);
  const bytes = new Uint8Array(
    HEAD_BYTES + buffers.length * BUFFER_BYTES + parts * PART_BYTES + CHECKSUM_BYTES,
  );
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setFloat64(4, id, true);
  view.setUint32(12, buffers.length, true);
  let at = HEAD_BYTES;
  for (const buffer of buffers) {
    view.setFloat64(at, buffer.nbytes, true);
    view.setUint32(at + 8, buffer.parts.length, true);
    at += BUFFER_BYTES;
    for (const part of buffer.parts) {
      view.setUint32(at, part.nbytes, true);
      view.setUint32(at + 4, part.stored, true);
      view.setUint32(at + 8, part.checksum, true);
      at += PART_BYTES;
    }
  }
  view.setUint32(at, checksum(bytes.subarray(0, at)), true);
  return bytes;
}

/** Decodes a table. Undefined if the bytes are not the table of this result, with parts of `stored` bytes in all. */
export function decodeTable(
  bytes: Uint8Array<ArrayBuffer>,
  id: ResultId,
  stored: number,
): StoredBuffer[] | undefined {
  const end = bytes.byteLength - CHECKSUM_BYTES;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Bytes with a valid checksum were written by encodeSpillTable, so no further check is needed.
  if (end < HEAD_BYTES || view.getUint32(end, true) !== checksum(bytes.subarray(0, end))) return undefined;
  if (view.getUint32(0, true) !== MAGIC || view.getFloat64(4, true) !== id) return undefined;
  const buffers: StoredBuffer[] = [];
  let at = HEAD_BYTES;
  let sum = 0;
  for (let left = view.getUint32(12, true); left > 0; left--) {
    const nbytes = view.getFloat64(at, true);
    const parts = Array.from({ length: view.getUint32(at + 8, true) }, (_, index) => {
      const part = at + BUFFER_BYTES + index * PART_BYTES;
      sum += view.getUint32(part + 4, true);
      return {
        nbytes: view.getUint32(part, true),
        stored: view.getUint32(part + 4, true),
        checksum: view.getUint32(part + 8, true),
      };
    });
    buffers.push({ nbytes, parts });
    at += BUFFER_BYTES + parts.length * PART_BYTES;
  }
  return at === end && sum === stored ? buffers : undefined;
}
