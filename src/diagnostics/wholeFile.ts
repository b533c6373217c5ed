// Writes files that the user names: pages, plots, drawings and profiles.
import { resolve } from 'node:path';
import { LongpoleError, notWrittenText } from '../base/errors.js';
import { replaceFile } from '../files/replaceFile.js';

/**
 * Writes a file and returns its absolute path. Replaces an existing file, which stays as it was if the new one cannot be written.
 *
 * @param what name of the content for the error, e.g. `page`
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written
 */
export function writeWhole(what: string, filename: string, content: string | Uint8Array): string {
  const path = resolve(filename);
  replaceFile(
    path,
    (cause) =>
      new LongpoleError('ERR_LONGPOLE_PAGE_FILE', `The ${what} ${notWrittenText(path, cause)}`, { cause }),
    (put) => put(typeof content === 'string' ? Buffer.from(content) : content),
  );
  return path;
}
