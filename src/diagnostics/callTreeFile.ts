// Writes call trees in the formats of other tools. Pages with a call tree are performance reports.
import { gzipSync } from 'node:zlib';
import type { CallTree } from '../profile/callTree.js';
import { toPprof } from '../profile/pprof.js';
import { toSpeedscope } from '../profile/speedscope.js';
import { writeWhole } from './wholeFile.js';

export interface CallTreeFileOptions {
  /** Name of the profile in other tools. */
  readonly title: string;
  /** Seconds per sample. */
  readonly interval: number;
}

/** Returns whether the extension of a file is that of a call tree instead of a page. */
export function isCallTreeFile(filename: string): boolean {
  return /\.(pb|pb\.gz|json)$/i.test(filename);
}

/**
 * Writes a call tree. The extension selects the format: `.pb` and `.pb.gz` for pprof, `.speedscope.json` for
 * speedscope, `.json` for the tree itself.
 *
 * @returns the absolute path of the file
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written
 */
export function writeCallTree(tree: CallTree, filename: string, options: CallTreeFileOptions): string {
  return writeWhole('profile', filename, contentOf(tree, filename.toLowerCase(), options));
}

function contentOf(tree: CallTree, name: string, options: CallTreeFileOptions): string | Uint8Array {
  const { title, interval } = options;
  if (name.endsWith('.pb')) return toPprof(tree, { interval });
  if (name.endsWith('.pb.gz')) return gzipSync(toPprof(tree, { interval }));
  if (name.endsWith('.speedscope.json'))
    return JSON.stringify(toSpeedscope(new Map([[title, tree]]), { name: title, interval }));
  return JSON.stringify(tree);
}
