// Decompression with the browser's DecompressionStream.

import { LongpoleError } from '../../base/errors.js';
import { filledWith } from '../../base/resized.js';
import { unpackedSizeError, unpackLimit } from '../../base/unpackLimit.js';

/** Decodes base64 in pieces, because `atob` of a long text needs another string of the same length. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const clean = text.trim();
  const padding = clean.endsWith('==') ? 2 : clean.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array((clean.length >> 2) * 3 - padding);
  const piece = 1 << 20;
  let at = 0;
  for (let from = 0; from < clean.length; from += piece) {
    const characters = atob(clean.slice(from, from + piece));
    for (let i = 0; i < characters.length; i++) bytes[at++] = characters.charCodeAt(i);
  }
  return bytes;
}

/**
 * Decompresses bytes piece by piece; a `Response` over the stream takes 50 % longer. Throws ERR_LONGPOLE_UNPACKED_SIZE
 * with the name `what` as soon as the result exceeds the limit.
 */
export async function unpack(
  what: string,
  bytes: Uint8Array<ArrayBuffer>,
  format: CompressionFormat,
): Promise<Uint8Array<ArrayBuffer>> {
  const { readable, writable } = new DecompressionStream(format);
  // The reader receives the same error.
  const written = writePieces(writable.getWriter(), bytes).catch(() => undefined);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const limit = unpackLimit(bytes.length);
  const reader = readable.getReader();
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    pieces.push(step.value);
    size += step.value.length;
    if (size <= limit) continue;
    pieces.length = 0;
    // An error of `cancel` is ignored, because the result is not used.
    await reader.cancel().catch(() => undefined);
    throw unpackedSizeError(what, bytes.length, limit);
  }
  await written;
  return filledWith(new Uint8Array(size), pieces);
}

/** Bytes per call. Chromium keeps the whole output of a call, which can be a thousand times as large. */
const PIECE = 1 << 16;

async function writePieces(
  writer: WritableStreamDefaultWriter<BufferSource>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> {
  for (let at = 0; at < bytes.length; at += PIECE) await writer.write(bytes.subarray(at, at + PIECE));
  await writer.close();
}

/**
 * Returns the data that a page contains as base64 of zlib. Throws ERR_LONGPOLE_PAGE_DATA if the data are damaged, and
 * ERR_LONGPOLE_UNPACKED_SIZE if they are too large.
 */
export async function unpackPageData(text: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await unpack('The data of the page', fromBase64(text), 'deflate');
  } catch (cause) {
    if (cause instanceof LongpoleError) throw cause;
    throw new LongpoleError(
      'ERR_LONGPOLE_PAGE_DATA',
      'The data of the page is damaged: the file was cut off or changed. Write the page again, or copy the whole file again.',
      { cause },
    );
  }
}
