// Reads files in chunks, for readers that keep only what they need.

import { closeSync, openSync, readSync } from 'node:fs';
import { isError, LongpoleError, sentenceOf } from '../base/errors.js';
import { resizedUint8 } from '../base/resized.js';
import type { ByteReader } from '../trace/formats/dasf/dasfReader.js';

/** Bytes per chunk: small enough for the cache, and large enough for few system calls. */
const CHUNK = 1 << 20;

/**
 * Feeds a file to a reader. Yields the number of bytes read after every chunk. Throws ERR_LONGPOLE_TRACE_FILE if the
 * file cannot be read.
 */
export function* readInChunks(file: string, reader: ByteReader): Generator<number> {
  const fd = reading(file, () => openSync(file, 'r'));
  try {
    let buffer = new Uint8Array(CHUNK);
    let held = 0;
    let done = 0;
    for (;;) {
      // A record is longer than the buffer, so the buffer grows. The readers limit the length of a record.
      if (held === buffer.length) buffer = resizedUint8(buffer, buffer.length * 2);
      const read = reading(file, () => readSync(fd, buffer, held, buffer.length - held, null));
      const length = held + read;
      const consumed = reader.feed(buffer, length, read === 0);
      done += read;
      yield done;
      if (read === 0) return;
      buffer.copyWithin(0, consumed, length);
      held = length - consumed;
    }
  } finally {
    closeSync(fd);
  }
}

export function readWhole(file: string, reader: ByteReader): void {
  for (const _ of readInChunks(file, reader));
}

/** Calls `read`, and throws ERR_LONGPOLE_TRACE_FILE for an error of the system. */
export function reading<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw fileError(file, error);
  }
}

export function fileError(file: string, cause: unknown): LongpoleError {
  const code = isError(cause) && 'code' in cause ? cause.code : undefined;
  const what =
    code === 'ENOENT' ? 'there is no such file.' : code === 'EISDIR' ? 'it is a folder.' : sentenceOf(cause);
  return new LongpoleError(
    'ERR_LONGPOLE_TRACE_FILE',
    `${file} cannot be read: ${what} Pass a trace that exists and that you may read.`,
    { cause },
  );
}

/** Number of bytes that show the format of a file. */
export const HEAD = 64;

/** Returns the first bytes of a file, none if it cannot be read. */
export function headOf(file: string): Uint8Array {
  let fd: number | undefined;
  try {
    fd = openSync(file, 'r');
    const head = new Uint8Array(HEAD);
    return head.subarray(0, readSync(fd, head, 0, HEAD, 0));
  } catch {
    return new Uint8Array(0);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
