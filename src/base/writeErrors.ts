// Errors for files and folders that cannot be written.
import { LongpoleError, sentenceOf } from './errors.js';
import { isError } from './isError.js';

const ANOTHER = 'or pass another path.';

/** Codes of the system that have a plain reason and a remedy. */
const REASONS: Readonly<Record<string, readonly [why: string, advice: string]>> = {
  ENOSPC: ['the disk is full.', `Free space on the disk, ${ANOTHER}`],
  EDQUOT: ['your disk quota is used up.', `Free space, ${ANOTHER}`],
  EACCES: ['permission denied.', `Change the permissions of its folder, ${ANOTHER}`],
  EPERM: ['permission denied.', `Change the permissions of its folder, ${ANOTHER}`],
  EROFS: ['its file system is read-only.', 'Pass a path on another file system.'],
  ENOENT: ['its folder does not exist.', `Create the folder, ${ANOTHER}`],
  ENOTDIR: ['a part of its path is a file, not a folder.', 'Pass another path.'],
  EEXIST: ['a file has the name of a folder that it needs.', 'Pass another path.'],
  EISDIR: ['it is a folder.', 'Pass the path of a file.'],
};

/** Returns a message: which file cannot be written, why, and what to do. */
export function notWrittenText(file: string, cause: unknown): string {
  const code = isError(cause) && 'code' in cause ? String(cause.code) : '';
  const [why, advice] = REASONS[code] ?? [sentenceOf(cause), 'Correct this, or pass another path.'];
  return `${file} cannot be written: ${why} ${advice}`;
}

/** Returns the error for a trace, an event file or an export that cannot be written. */
export function notWrittenError(file: string, cause: unknown): LongpoleError {
  return new LongpoleError('ERR_LONGPOLE_TRACE_FILE', notWrittenText(file, cause), { cause });
}
