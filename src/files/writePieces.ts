// Writes files piece by piece, so that an export need not be in memory as a whole, and creates their folders.

import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { notWrittenError } from '../base/errors.js';
import { loadPackage } from '../base/packages.js';
import { replaceFile } from './replaceFile.js';

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
  let size = 0;
  replaceFile(
    file,
    (cause) => notWrittenError(file, cause),
    (put) => {
      for (const bytes of file.endsWith('.gz') ? packed(encoded(pieces)) : encoded(pieces)) {
        put(bytes);
        size += bytes.length;
        onPiece(size);
      }
    },
  );
  return size;
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
  try {
    makeFolders(folder);
  } catch (cause) {
    throw notWrittenError(folder, cause);
  }
}

/**
 * Creates the folder and its missing parents. Throws the system's error if it cannot, or if a file has the name. Node 20's
 * recursive mkdirSync never returns if the system reports an existing folder as missing, as in /proc.
 */
export function makeFolders(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (isFolder(path)) return;
    if (existsSync(dirname(path))) throw error;
    makeFolders(dirname(path), mode);
    makeFolders(path, mode);
  }
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
