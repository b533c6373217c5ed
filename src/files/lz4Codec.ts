// LZ4 frames for the columns of trace directories. Every frame carries a checksum of its content.
import { loadPackage } from '../base/packages.js';
import type { ArrowCodec } from '../trace/formats/arrow/arrowTypes.js';
import { unpackLz4Frame } from '../trace/formats/arrow/lz4Frame.js';

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export function lz4Codec(): ArrowCodec {
  const { compressFrameSync } = loadPackage('lz4-napi');
  return {
    compress: (bytes) => compressFrameSync(asBuffer(bytes), { contentChecksum: true }),
    decompress: unpackLz4Frame,
  };
}
