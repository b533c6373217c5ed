// Writes files that the user names: pages, plots, drawings and profiles.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { LongpoleError, messageOf } from '../base/errors.js';

/**
 * Writes a file and returns its absolute path. Replaces an existing file.
 *
 * @param what name of the content for the error, e.g. `page`
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written
 */
export function writeWhole(what: string, filename: string, content: string | Uint8Array): string {
  const path = resolve(filename);
  try {
    writeFileSync(path, content);
  } catch (cause) {
    throw new LongpoleError(
      'ERR_LONGPOLE_PAGE_FILE',
      `The ${what} ${path} could not be written (${messageOf(cause)}). Give a filename in a folder that exists and is writable.`,
      { cause },
    );
  }
  return path;
}
