// An SVG image as a file, or as a page.
import { writeWhole } from '../diagnostics/wholeFile.js';

/**
 * Writes the image, in a page if the name of the file ends in `.html`.
 *
 * @returns the absolute path
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
