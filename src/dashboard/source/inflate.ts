// Unpacking with what browsers bring along.
import { LongpoleError } from '../../base/errors.js';

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

/** Bytes that were packed. They are read piece by piece: a `Response` over the stream takes half as long again. */
export async function unpack(
  bytes: Uint8Array<ArrayBuffer>,
  format: CompressionFormat,
): Promise<Uint8Array<ArrayBuffer>> {
  const { readable, writable } = new DecompressionStream(format);
  const writer = writable.getWriter();
  // What goes wrong is told to whoever reads, too.
  const written = Promise.allSettled([writer.write(bytes), writer.close()]);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = readable.getReader();
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    pieces.push(step.value);
    size += step.value.length;
  }
  await written;
  const result = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    result.set(piece, at);
    at += piece.length;
  }
  return result;
}

/** The data that stands in a page, base64 of zlib. Throws ERR_LONGPOLE_PAGE_DATA if it is damaged. */
export async function unpackPageData(text: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await unpack(fromBase64(text), 'deflate');
  } catch (cause) {
    throw new LongpoleError(
      'ERR_LONGPOLE_PAGE_DATA',
      'The data of the page is damaged: the file was cut off or changed. Write the page again, or copy the whole file again.',
      { cause },
    );
  }
}
