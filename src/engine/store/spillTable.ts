// The table of a result in a spill file: the lengths and checksums of its stored parts, which lie before the table.
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import type { ResultId } from '../../protocol/packedResult.js';

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

/** The table behind the parts of a result, with its own checksum. */
interface Table {
  readonly id: ResultId;
  readonly buffers: readonly StoredBuffer[];
}

/** Bytes of the table's own checksum, at its end. */
const CHECKSUM_BYTES = 4;

export function encodeTable(table: Table): Buffer<ArrayBuffer> {
  const bytes = serialize(table);
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(bytes));
  return Buffer.concat([bytes, checksum]);
}

/**
 * Returns the buffers of a result, or undefined if the bytes are not its table. Everything that is read is checked, because
 * a bit error of a disk must not become a wrong number in a result.
 */
export function decodeTable(bytes: Buffer, id: ResultId): readonly StoredBuffer[] | undefined {
  const end = bytes.byteLength - CHECKSUM_BYTES;
  const content = bytes.subarray(0, end);
  if (bytes.readUInt32LE(end) !== crc32(content)) return undefined;
  const table: Table = deserialize(content);
  return table.id === id ? table.buffers : undefined;
}
