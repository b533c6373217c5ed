// Writes an SVG image to a file.
import { writeWhole } from '../diagnostics/wholeFile.js';

/**
 * Writes an image, as a page if the name of the file ends in `.html`.
 *
 * @returns the absolute path of the file
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written
 */
export function writeDrawing(image: string, filename: string): string {
  const isPage = /\.html?$/i.test(filename);
  return writeWhole(
    'drawing',
    filename,
    isPage ? `<!doctype html>\n<meta charset="utf-8">\n${image}` : image,
  );
}
