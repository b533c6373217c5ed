// LZ4 frames for the columns of trace directories. Every frame carries a checksum of its content.
import { compressFrameSync } from 'lz4-napi';
import type { ArrowCodec } from '../trace/formats/arrowTypes.js';
import { unpackLz4Frame } from '../trace/formats/lz4Frame.js';

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const lz4Codec: ArrowCodec = {
  compress: (bytes) => compressFrameSync(asBuffer(bytes), { contentChecksum: true }),
  decompress: unpackLz4Frame,
};
