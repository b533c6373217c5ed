// Writes pages that open from disk without Longpole and without a network. The build makes a template of src/dashboard,
// which holds the whole program. This module adds the data.
import { readFileSync } from 'node:fs';
import { LongpoleError, messageOf } from '../base/errors.js';
import { escapeHtml, visibleName } from '../base/visibleText.js';
import { writeWhole } from './wholeFile.js';

const TITLE_PLACEHOLDER = '@LONGPOLE_TITLE@';
const DATA_PLACEHOLDER = '@LONGPOLE_DATA@';

export type PageTemplate = 'dashboard' | 'diff';

/**
 * Returns a template with title and data as pieces of a file, because a page may be longer than the longest string.
 *
 * @param title text, which is escaped here
 * @param data base64 or empty
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the template is missing from the installation
 */
export function fillTemplate(name: PageTemplate, title: string, data: string): string[] {
  const url = new URL(`../dashboard/${name}.html`, import.meta.url);
  // `replace` would interpret patterns such as `$&` in a title.
  const [head, afterTitle] = cut(url, readTemplate(url), TITLE_PLACEHOLDER);
  const [body, tail] = cut(url, afterTitle, DATA_PLACEHOLDER);
  return [head, escapeHtml(visibleName(title)), body, data, tail];
}

const INSTALL = 'Install longpole again, or build it with `npm run build`.';

/**
 * Writes a page and returns its absolute path. Replaces an existing file.
 *
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the page cannot be written
 */
export function writePage(pieces: readonly string[], filename: string): string {
  return writeWhole('page', filename, Buffer.concat(pieces.map((piece) => Buffer.from(piece))));
}

function readTemplate(url: URL): string {
  try {
    return readFileSync(url, 'utf8');
  } catch (cause) {
    throw new LongpoleError(
      'ERR_LONGPOLE_PAGE_FILE',
      `The template ${url.href} cannot be read (${messageOf(cause)}). ${INSTALL}`,
      { cause },
    );
  }
}

function cut(url: URL, text: string, placeholder: string): [string, string] {
  const at = text.indexOf(placeholder);
  if (at < 0)
    throw new LongpoleError(
      'ERR_LONGPOLE_PAGE_FILE',
      `The template ${url.href} has no ${placeholder}. ${INSTALL}`,
    );
  return [text.slice(0, at), text.slice(at + placeholder.length)];
}
