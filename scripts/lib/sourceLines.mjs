// Replaces compiled positions in stack frames by source positions. Tests run without `--enable-source-maps`, which
// makes every process and every thread read the maps of all its modules. Only the text of a failure needs the maps.
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Matches a position in a compiled file: `file:///a/dist/b.js:3:7`, or the same as a path. */
const POSITION = /(file:\/\/)?(\/[^\s:()]+\.[cm]?js):(\d+):(\d+)/g;

/**
 * @param {string} text output of a failed test
 * @returns {string} the text, with source positions instead of positions in compiled files that have a map
 */
export function withSourceLines(text) {
  const maps = new Map();
  return text.replace(POSITION, (position, scheme, path, line, column) => {
    const file = scheme === undefined ? path : fileURLToPath(scheme + path);
    if (!maps.has(file)) maps.set(file, readMap(file));
    const { originalSource, originalLine, originalColumn } =
      maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1) ?? {};
    if (originalSource === undefined) return position;
    return `${resolve(dirname(file), originalSource)}:${originalLine + 1}:${originalColumn + 1}`;
  });
}

function readMap(file) {
  const path = `${file}.map`;
  return existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8'))) : undefined;
}
