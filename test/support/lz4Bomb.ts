// A table of a trace directory with a small compressed buffer that unpacks to gigabytes of zeros.
import { ArrowEncoder } from '#internal/trace/formats/arrow/arrowEncoder.js';

/** Unpacked bytes of a block: a literal, a match of `MATCHES` times 255 bytes and 19, and 5 literals. */
const MATCHES = 16_448;
export const BLOCK_BYTES = 1 + MATCHES * 255 + 19 + 5;
/** Marker, flags (independent blocks), blocks of up to 4 MiB, checksum of the header. */
const HEAD = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73];

/** Returns an LZ4 frame that unpacks to `blocks` times `BLOCK_BYTES` zeros. */
export function lz4Zeros(blocks: number): Buffer {
  const block = Buffer.concat([
    Buffer.of(0x1f, 0, 1, 0),
    Buffer.alloc(MATCHES, 255),
    Buffer.of(0, 0x50, 0, 0, 0, 0, 0),
  ]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(block.length);
  const content = Array.from({ length: blocks }, () => [size, block]).flat();
  return Buffer.concat([Buffer.from(HEAD), ...content, Buffer.alloc(4)]);
}

/** Returns the parts of a table of tasks whose only column has the packed bytes, which state the size `unpacked`. */
export function tableWith(packed: Buffer, unpacked: number): Uint8Array[] {
  // The encoder keeps a compressed buffer only if it is smaller than the column.
  const values = new Float64Array(Math.ceil(packed.length / 8) + 1);
  const encoder = new ArrowEncoder([{ name: 'started', type: 'float64' }], {
    compress: () => packed,
    decompress: () => undefined,
  });
  const batch = encoder.batch(values.length, [{ type: 'float64', values }]);
  const prefix = batch[batch.indexOf(packed) - 1]!;
  new DataView(prefix.buffer, prefix.byteOffset, 8).setBigInt64(0, BigInt(unpacked), true);
  return [...encoder.start(), ...batch, ...encoder.end()];
}
