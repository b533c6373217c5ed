// Pages that open from disk: templates that the build made of src/dashboard, each the whole program in one file, with data
// put into them. A page that was written never needs Longpole or a network again.
import { readFileSync } from 'node:fs';
import { LongpoleError, messageOf } from '../base/errors.js';
import { escapeHtml } from '../base/escapeHtml.js';
import { visibleName } from '../base/visibleText.js';
import { writeWhole } from './wholeFile.js';

/** What the build leaves in a template in place of the title, and of the data. */
const TITLE_PLACEHOLDER = '@LONGPOLE_TITLE@';
const DATA_PLACEHOLDER = '@LONGPOLE_DATA@';

export type PageTemplate = 'dashboard' | 'diff';

/**
 * The template with a title, which is text, and data, which must be base64 or empty, as the pieces of the file: a page may
 * be longer than a string can be.
 *
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the template is not part of the installation
 */
export function fillTemplate(name: PageTemplate, title: string, data: string): string[] {
  const url = new URL(`../dashboard/${name}.html`, import.meta.url);
  // Split instead of replace: a replacement pattern such as `$&` in a title must stay what it is.
  const [head, afterTitle] = cut(url, readTemplate(url), TITLE_PLACEHOLDER);
  const [body, tail] = cut(url, afterTitle, DATA_PLACEHOLDER);
  return [head, escapeHtml(visibleName(title)), body, data, tail];
}

/**
 * Writes a page and returns its absolute path. An existing file is replaced.
 *
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if it cannot be written
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
      `The template ${url.href} cannot be read (${messageOf(cause)}). Install longpole again, or build it with \`npm run build\`.`,
      { cause },
    );
  }
}

function cut(url: URL, text: string, placeholder: string): [string, string] {
  const at = text.indexOf(placeholder);
  if (at < 0)
    throw new LongpoleError('ERR_LONGPOLE_PAGE_FILE', `The template ${url.href} has no ${placeholder}.`);
  return [text.slice(0, at), text.slice(at + placeholder.length)];
}
