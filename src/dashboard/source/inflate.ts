// Unpacking with what browsers bring along.

import { LongpoleError } from '../../base/errors.js';
import { filledWith } from '../../base/resized.js';
import { unpackedSizeError, unpackLimit } from '../../base/unpackLimit.js';

/** Bytes of base64 text. `atob` of a text of many megabytes is one long string more: it goes in pieces. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
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
 * Bytes that were packed. They are read piece by piece: a `Response` over the stream takes half as long again. Throws
 * ERR_LONGPOLE_UNPACKED_SIZE, without holding more than the limit, if they become too many; the error names `what`.
 */
export async function unpack(
  what: string,
  bytes: Uint8Array<ArrayBuffer>,
  format: CompressionFormat,
): Promise<Uint8Array<ArrayBuffer>> {
  const { readable, writable } = new DecompressionStream(format);
  // What goes wrong is told to whoever reads, too.
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
    // Whether the stream can still be cancelled does not matter: its result is not used.
    await reader.cancel().catch(() => undefined);
    throw unpackedSizeError(what, bytes.length, limit);
  }
  await written;
  return filledWith(new Uint8Array(size), pieces);
}

/** Bytes that are unpacked at a time: Chromium holds all that comes of one call, up to a thousand times as many. */
const PIECE = 1 << 16;

async function writePieces(
  writer: WritableStreamDefaultWriter<BufferSource>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> {
  for (let at = 0; at < bytes.length; at += PIECE) await writer.write(bytes.subarray(at, at + PIECE));
  await writer.close();
}

/**
 * The data that stands in a page, base64 of zlib. Throws ERR_LONGPOLE_PAGE_DATA if it is damaged, ERR_LONGPOLE_UNPACKED_SIZE if
 * it becomes too large.
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
