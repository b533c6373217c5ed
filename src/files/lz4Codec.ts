// LZ4 frames for the columns of trace directories. Every frame carries a checksum of its content.
import { loadPackage } from '../base/packages.js';
import type { ArrowCodec } from '../trace/formats/arrow/arrowMessages.js';
import { unpackLz4Frame } from '../trace/formats/arrow/lz4Frame.js';

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/**
 * Returns the codec. Reading needs no package. Without a binary of lz4-napi, columns are written without compression,
 * as if they did not shrink.
 */
export function lz4Codec(): ArrowCodec {
  let compress: ArrowCodec['compress'] | undefined;
  return {
    compress: (bytes) => {
      compress ??= frameWriter();
      return compress(bytes);
    },
    decompress: unpackLz4Frame,
  };
}

function frameWriter(): ArrowCodec['compress'] {
  try {
    const { compressFrameSync } = loadPackage('lz4-napi');
    return (bytes) => compressFrameSync(asBuffer(bytes), { contentChecksum: true });
  } catch {
    return (bytes) => bytes;
  }
}
