// Gives printed stack frames the lines of the sources. Tests run without `--enable-source-maps`, which makes every process
// and every worker thread read the maps of all its modules; only the text of a failure needs them.
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A position in a compiled file: `file:///a/dist/b.js:3:7`, or the same as a path. */
const POSITION = /(file:\/\/)?(\/[^\s:()]+\.m?js):(\d+):(\d+)/g;

/**
 * @param {string} text what a failed test printed
 * @returns {string} the text, with each position in a compiled file that has a map replaced by the one in its source
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
