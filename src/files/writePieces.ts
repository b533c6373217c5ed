// Files that are written piece by piece, so that what is exported never has to be in memory as a whole.

import {
  closeSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { Gzip } from 'fflate';
import { LongpoleError, messageOf } from '../base/errors.js';
import { makeFolders } from './makeFolders.js';

/**
 * Writes a file, packed if its name ends with `.gz`; the name only appears when the file is whole. Behind a link it is what
 * the link leads to; a pipe or a device takes the bytes as they come. Returns how many bytes were written. Throws
 * ERR_LONGPOLE_TRACE_FILE if it cannot be written; then a file that had the name before is as it was.
 */
export function writePieces(
  file: string,
  pieces: Iterable<string | Uint8Array>,
  onPiece: (bytes: number) => void = () => {},
): number {
  const target = attempt(file, () => replaceable(file));
  const partial = target === undefined ? file : `${target}.${process.pid}.part`;
  let size = 0;
  const fd = attempt(file, () => openSync(partial, 'w'));
  try {
    for (const bytes of file.endsWith('.gz') ? packed(encoded(pieces)) : encoded(pieces)) {
      attempt(file, () => writeAll(fd, bytes));
      size += bytes.length;
      onPiece(size);
    }
  } catch (error) {
    closeSync(fd);
    if (target !== undefined) rmSync(partial, { force: true });
    throw error;
  }
  closeSync(fd);
  if (target !== undefined) attempt(file, () => renameSync(partial, target));
  return size;
}

/** The path that a whole file can take; undefined for what has to be opened as it is. */
function replaceable(file: string): string | undefined {
  const entry = lstatSync(file, { throwIfNoEntry: false });
  if (entry === undefined) return file;
  // A link may also lead to what is not there yet, or, as those of /dev/stdout, to what has no path.
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true ? realpathSync(file) : undefined;
}

function* encoded(pieces: Iterable<string | Uint8Array>): Generator<Uint8Array> {
  for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
}

/** As a gzip file. */
function* packed(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  const ready: Uint8Array[] = [];
  const gzip = new Gzip((chunk) => ready.push(chunk));
  for (const piece of pieces) {
    // What is pushed is kept for a while, and writers use their buffers again.
    gzip.push(piece.slice());
    yield* ready.splice(0);
  }
  gzip.push(new Uint8Array(0), true);
  yield* ready;
}

/** Makes a folder unless it is there. Throws ERR_LONGPOLE_TRACE_FILE. */
export function makeFolder(folder: string): void {
  attempt(folder, () => makeFolders(folder));
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

function attempt<T>(file: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    const what = messageOf(cause);
    throw new LongpoleError('ERR_LONGPOLE_TRACE_FILE', `${file} cannot be written: ${what}.`, { cause });
  }
}
