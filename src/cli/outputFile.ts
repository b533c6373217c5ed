// The checks of an output before a command works, so that a wrong path does not cost the result. `-` is the standard output.
import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeFolders } from '../api/folders.js';
import { notWrittenText } from '../base/errors.js';
import { CommandError, WRONG_USAGE } from './terminal.js';

const STANDARD_OUTPUT = ['-', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'];

/** Returns whether a path names the standard output of this process. */
export function isStandardOutput(path: string | undefined): boolean {
  return path !== undefined && STANDARD_OUTPUT.includes(path);
}

/**
 * Refuses `-` as the path of an output that the standard output cannot receive.
 *
 * @throws CommandError that names the option and `why`
 */
export function refuseStandardOutput(option: string, path: string | undefined, why: string): void {
  if (path === '-')
    throw new CommandError(`${option} - is the standard output. ${why} Pass a path.`, WRONG_USAGE);
}

/**
 * Creates the folder of a file.
 *
 * @throws CommandError if the file cannot be written there
 */
export function prepareOutputFile(file: string): void {
  const folder = dirname(resolve(file));
  try {
    makeFolders(folder);
    const existing = statSync(file, { throwIfNoEntry: false });
    if (existing?.isDirectory() === true)
      throw Object.assign(new Error(`${file} is a folder`), { code: 'EISDIR' });
    accessSync(existing === undefined ? folder : file, constants.W_OK);
  } catch (error) {
    throw new CommandError(notWrittenText(file, error), WRONG_USAGE);
  }
}
