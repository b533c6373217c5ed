// LZ4 frames for the columns of trace directories. Every frame carries a checksum of its content.
import { attempt } from '../base/errors.js';
import { once } from '../base/lookUps.js';
import { loadPackage } from '../base/packages.js';
import type { ArrowCodec } from '../trace/formats/arrow/arrowMessages.js';
import { unpackLz4Frame } from '../trace/formats/arrow/lz4Frame.js';

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Reading needs no package. Without a binary of lz4-napi, columns are written without compression, as if they did not shrink. */
export const LZ4_CODEC: ArrowCodec = {
  compress: (bytes) => lz4()?.compressFrameSync(asBuffer(bytes), { contentChecksum: true }) ?? bytes,
  decompress: unpackLz4Frame,
};

const lz4 = once(() => attempt(() => loadPackage('lz4-napi'), undefined));
