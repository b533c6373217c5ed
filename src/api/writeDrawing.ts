// An SVG image as a file, or as a page.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { LongpoleError } from '../base/errors.js';

/**
 * Writes the image, in a page if the name of the file ends in `.html`.
 *
 * @returns the absolute path
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written
 */
export function writeDrawing(image: string, filename: string): string {
  const path = resolve(filename);
  const text = /\.html?$/i.test(path) ? `<!doctype html>\n<meta charset="utf-8">\n${image}` : image;
  try {
    writeFileSync(path, text);
  } catch (cause) {
    throw new LongpoleError(
      'ERR_LONGPOLE_PAGE_FILE',
      `The drawing ${path} could not be written (${String(cause)}). Give a filename in a folder that exists and is writable.`,
      { cause },
    );
  }
  return path;
}
