// The page of `visualize`: the template `profile` with the data of one profile put into it.
import { deflateSync } from 'node:zlib';
import type { ProfilePage } from '../protocol/profilePage.js';
import { encodeProfilePage } from '../protocol/profilePageCodec.js';
import { fillTemplate, writePage } from './htmlPage.js';

/**
 * The page as the text of one HTML file that opens from disk without a network.
 *
 * @throws LongpoleError ERR_LONGPOLE_PAGE_DATA if the columns of the page do not fit together;
 *   ERR_LONGPOLE_PAGE_FILE if the template is not part of the installation.
 */
export function renderProfilePage(page: ProfilePage): string {
  return pieces(page).join('');
}

/**
 * Writes the page to `filename` and returns its absolute path. An existing file is replaced.
 *
 * @throws LongpoleError ERR_LONGPOLE_PAGE_DATA if the columns of the page do not fit together;
 *   ERR_LONGPOLE_PAGE_FILE if the file cannot be written or the template is missing.
 */
export function writeProfilePage(page: ProfilePage, filename: string): string {
  return writePage(pieces(page), filename);
}

function pieces(page: ProfilePage): string[] {
  return fillTemplate('profile', page.title, deflateSync(encodeProfilePage(page)).toString('base64'));
}
