// Writes files piece by piece, so that an export need not be in memory as a whole.

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
import { loadPackage } from '../base/packages.js';
import { notWrittenError } from '../base/writeErrors.js';
import { makeFolders } from './makeFolders.js';

/**
 * Writes a file, packed if its name ends with `.gz`. The name appears only when the file is complete. For a link,
 * writes its target; a pipe or a device receives the bytes directly. Returns the number of bytes written. Throws
 * ERR_LONGPOLE_TRACE_FILE if the file cannot be written; an earlier file with the name is unchanged then.
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

/** Returns the path for a complete file; undefined for a path that has to be opened directly. */
function replaceable(file: string): string | undefined {
  const entry = lstatSync(file, { throwIfNoEntry: false });
  if (entry === undefined) return file;
  // The target of a link may not exist yet, or, as for /dev/stdout, may have no path.
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true ? realpathSync(file) : undefined;
}

function* encoded(pieces: Iterable<string | Uint8Array>): Generator<Uint8Array> {
  for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
}

/** Packs the pieces as a gzip file. */
function* packed(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  const ready: Uint8Array[] = [];
  const { Gzip } = loadPackage('fflate');
  const gzip = new Gzip((chunk) => ready.push(chunk));
  for (const piece of pieces) {
    // The packer keeps pushed bytes for a while, but writers reuse their buffers.
    gzip.push(piece.slice());
    yield* ready.splice(0);
  }
  gzip.push(new Uint8Array(0), true);
  yield* ready;
}

/** Creates a folder unless it exists. Throws ERR_LONGPOLE_TRACE_FILE. */
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
    throw notWrittenError(file, cause);
  }
}
