// Writes the page of `visualize`: the template that the build made of src/dashboard, with the data of one profile put
// into it. The template holds the whole program; a page that was written never needs Longpole or a network again.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { deflateSync } from 'node:zlib';
import { LongpoleError } from '../base/errors.js';
import type { ProfilePage } from '../protocol/profilePage.js';
import { encodeProfilePage } from '../protocol/profilePageCodec.js';

const TEMPLATE = new URL('../dashboard/profile.html', import.meta.url);
/** What the build leaves in the template in place of the title and of the base64 of the deflated data. */
const TITLE_PLACEHOLDER = '@LONGPOLE_TITLE@';
const DATA_PLACEHOLDER = '@LONGPOLE_DATA@';

/**
 * The page as the text of one HTML file that opens from disk without a network.
 *
 * @throws LongpoleError ERR_LONGPOLE_PAGE_DATA if the columns of the page do not fit together;
 *   ERR_LONGPOLE_PAGE_FILE if the template is not part of the installation.
 */
export function renderProfilePage(page: ProfilePage): string {
  const data = deflateSync(encodeProfilePage(page)).toString('base64');
  // Split instead of replace: a replacement pattern such as `$&` in a title must stay what it is.
  const [head, afterTitle] = cut(readTemplate(), TITLE_PLACEHOLDER);
  const [body, tail] = cut(afterTitle, DATA_PLACEHOLDER);
  return head + escapeHtml(page.title) + body + data + tail;
}

/**
 * Writes the page to `filename` and returns its absolute path. An existing file is replaced.
 *
 * @throws LongpoleError ERR_LONGPOLE_PAGE_DATA if the columns of the page do not fit together;
 *   ERR_LONGPOLE_PAGE_FILE if the file cannot be written or the template is missing.
 */
export function writeProfilePage(page: ProfilePage, filename: string): string {
  const html = renderProfilePage(page);
  const path = resolve(filename);
  try {
    writeFileSync(path, html);
  } catch (cause) {
    throw new LongpoleError(
      'ERR_LONGPOLE_PAGE_FILE',
      `The page ${path} could not be written (${reason(cause)}). Give a filename in a folder that exists and is writable.`,
      { cause },
    );
  }
  return path;
}

function readTemplate(): string {
  try {
    return readFileSync(TEMPLATE, 'utf8');
  } catch (cause) {
    throw new LongpoleError(
      'ERR_LONGPOLE_PAGE_FILE',
      `The template ${TEMPLATE.href} cannot be read (${reason(cause)}). Install longpole again, or build it with \`npm run build\`.`,
      { cause },
    );
  }
}

function cut(text: string, placeholder: string): [string, string] {
  const at = text.indexOf(placeholder);
  if (at < 0) {
    throw new LongpoleError('ERR_LONGPOLE_PAGE_FILE', `The template ${TEMPLATE.href} has no ${placeholder}.`);
  }
  return [text.slice(0, at), text.slice(at + placeholder.length)];
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
