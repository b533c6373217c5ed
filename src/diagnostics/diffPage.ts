// Writes a diff as a self-contained HTML page: the verdict, a flame graph of the call stacks of both sides, and the
// table.
import { deflateSync } from 'node:zlib';
import type { Diff } from '../analysis/diff/diff.js';
import { encodeDiffPage } from '../analysis/diff/diffPageData.js';
import { checkArgument, checkOptions, type OptionKinds, PAGE_FILE, TEXT } from '../base/arguments.js';
import { fillTemplate, writePage } from './htmlPage.js';

export interface DiffPageOptions {
  /** Name of the first side. Default `before`. */
  readonly before?: string;
  /** Name of the second side. Default `after`. */
  readonly after?: string;
}

const OPTIONS: OptionKinds<DiffPageOptions> = { before: TEXT, after: TEXT };

/**
 * Writes a diff as a self-contained HTML page. Replaces an existing file.
 *
 * @returns the absolute path of the page
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the page cannot be written or its template is missing,
 *   ERR_LONGPOLE_INVALID_ARGUMENT if the name does not end in `.html`
 */
export function writeDiffPage(diff: Diff, filename: string, options: DiffPageOptions = {}): string {
  checkArgument('writeDiffPage(): filename', filename, PAGE_FILE);
  checkOptions('writeDiffPage()', options, OPTIONS);
  const { before = 'before', after = 'after' } = options;
  const packed = deflateSync(encodeDiffPage(diff, { before, after })).toString('base64');
  return writePage(fillTemplate('diff', 'Longpole: what changed', packed), filename);
}
