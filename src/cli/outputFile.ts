// The check of an output file before a program or a recording runs, so that a wrong path does not cost its result.
import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeFolders } from '../api/folders.js';
import { notWrittenText } from '../base/writeErrors.js';
import { CommandError, WRONG_USAGE } from './terminal.js';

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
