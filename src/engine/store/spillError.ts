// The error of results that cannot be spilled: the folder, its free space, and what helps.

import { LongpoleError, messageOf } from '../../base/errors.js';
import { isError } from '../../base/isError.js';
import { megabytes } from '../../base/words.js';

/** Codes for an exhausted disk, quota or limit on files. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Sizes in bytes. */
interface SpillSizes {
  /** Size of the results that could not be written. */
  readonly nbytes: number;
  /** Size of the worker's results in memory. */
  readonly managed: number;
  /** Size of its results on disk. */
  readonly spilled: number;
}

/** Returns the error. `room` is that of the folder's file system, in blocks of `bsize` bytes; undefined if unknown. */
export function spillError(
  folder: string,
  { nbytes, managed, spilled }: SpillSizes,
  room: { readonly bsize: number; readonly blocks: number; readonly bavail: number } | undefined,
  cause: unknown,
): LongpoleError {
  const why = messageOf(cause);
  const isFull = isError(cause) && 'code' in cause && FULL.has(String(cause.code));
  const free =
    room === undefined
      ? ''
      : ` ${megabytes(room.bavail * room.bsize)} of ${megabytes(room.blocks * room.bsize)} are free there.`;
  const message =
    `${megabytes(nbytes)} of results cannot be spilled to ${folder}: ${why}.${free} The worker keeps ${megabytes(managed)} of results in memory and ` +
    `${megabytes(spilled)} on disk. ` +
    (isFull
      ? 'Free space in that folder, pass a localDirectory on a larger disk, raise memoryLimit, or release results that are not needed.'
      : 'Pass a writable localDirectory, raise memoryLimit, or release results that are not needed.');
  return new LongpoleError(isFull ? 'ERR_LONGPOLE_DISK_FULL' : 'ERR_LONGPOLE_SPILL_WRITE', message, {
    cause,
  });
}
