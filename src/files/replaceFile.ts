// Writes a file under a temporary name, so that a full disk leaves neither half of a file nor a damaged earlier one.
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { attempt } from '../base/errors.js';

/**
 * Calls `write` with a function that adds bytes to the file. The name appears only when `write` has returned. For a link, writes
 * its target. A pipe, a device, and a file in a folder that is not writable receive the bytes directly.
 *
 * @param toError returns the error to throw for an error of the system; an earlier file with the name is unchanged then
 */
export function replaceFile(
  file: string,
  toError: (cause: unknown) => Error,
  write: (put: (bytes: Uint8Array) => void) => void,
): void {
  const checked = <T>(action: () => T): T => {
    try {
      return action();
    } catch (cause) {
      throw toError(cause);
    }
  };
  const target = checked(() => replaceable(file));
  const partial = target === undefined ? file : partialName(target);
  const fd = checked(() => openSync(partial, 'w'));
  try {
    if (target !== undefined) keepPermissions(fd, target);
    write((bytes) => checked(() => writeFileSync(fd, bytes)));
  } catch (error) {
    closeSync(fd);
    if (target !== undefined) rmSync(partial, { force: true });
    throw error;
  }
  closeSync(fd);
  if (target !== undefined) checked(() => renameSync(partial, target));
}

let partials = 0;

/**
 * Returns a name beside the file. Systems allow 255 bytes, so it has only the beginning of a long name, and a number, because files
 * with the same beginning may be written at the same time, also on other threads.
 */
function partialName(file: string): string {
  return join(dirname(file), `${basename(file).slice(0, 60)}.${process.pid}.${threadId}.${partials++}.part`);
}

/** Gives a file the permissions of the file that it replaces. Only its owner can change them. */
function keepPermissions(fd: number, replaced: string): void {
  const mode = statSync(replaced, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined) attempt(() => fchmodSync(fd, mode & 0o777), undefined);
}

/** Returns the path for a complete file; undefined for a path that has to be opened directly. */
function replaceable(file: string): string | undefined {
  const entry = lstatSync(file, { throwIfNoEntry: false });
  if (entry === undefined) return file;
  // The target of a link may not exist yet, or, as for /dev/stdout, may have no path.
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const target = realpathSync(file);
  return attempt(() => accessSync(dirname(target), constants.W_OK) ?? target, undefined);
}
