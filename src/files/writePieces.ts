// Writes files piece by piece, so that an export need not be in memory as a whole.

import { notWrittenError } from '../base/errors.js';
import { loadPackage } from '../base/packages.js';
import { makeFolders } from './makeFolders.js';
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
