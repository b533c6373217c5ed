// A call tree as a file that other tools read. As a page it is a performance report.
import { gzipSync } from 'node:zlib';
import type { CallTree } from '../profile/callTree.js';
import { toPprof } from '../profile/pprof.js';
import { toSpeedscope } from '../profile/speedscope.js';
import { writeWhole } from './wholeFile.js';

export interface CallTreeFileOptions {
  /** What the file is called in tools that read it. */
  readonly title: string;
  /** Seconds that a sample is worth. */
  readonly interval: number;
}

/** Whether the name of a file asks for a call tree, and not for a page. */
export function isCallTreeFile(filename: string): boolean {
  return /\.(pb|pb\.gz|json)$/i.test(filename);
}

/**
 * Writes a call tree; what the name ends in says how: `.pb` and `.pb.gz` for pprof, `.speedscope.json`, `.json` for the tree
 * as it is.
 *
 * @returns the absolute path
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
