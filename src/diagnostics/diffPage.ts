// What changed between two sets of runs as one HTML page that needs nothing else: the verdict, the call stacks as a flame view
// of both, and the table. The template `diff` with the data of one diff put into it.
import { deflateSync } from 'node:zlib';
import type { Diff } from '../analysis/diff/diff.js';
import { encodeDiffPage } from '../analysis/diff/diffPageData.js';
import { checkArgument, checkOptions, type OptionKinds, PAGE_FILE, TEXT } from '../base/arguments.js';
import { fillTemplate, writePage } from './htmlPage.js';

export interface DiffPageOptions {
  /** What the two sides are called. Default: before and after. */
  readonly before?: string;
  readonly after?: string;
}

const OPTIONS: OptionKinds<DiffPageOptions> = { before: TEXT, after: TEXT };

/**
 * Writes the page and returns its absolute path. An existing file is replaced.
 *
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if it cannot be written, or the template is not part of the installation
 */
export function writeDiffPage(diff: Diff, filename: string, options: DiffPageOptions = {}): string {
  checkArgument('writeDiffPage(): filename', filename, PAGE_FILE);
  checkOptions('writeDiffPage()', options, OPTIONS);
  const { before = 'before', after = 'after' } = options;
  const packed = deflateSync(encodeDiffPage(diff, { before, after })).toString('base64');
  return writePage(fillTemplate('diff', 'Longpole: what changed', packed), filename);
}
