// Finds the compiled test files, and the order in which they run.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

const BROWSER_TESTS = 'dist-test/test/browser/';
/** Tests of the whole package. They start clusters and programs, so they take much longer than unit tests. */
const WHOLE_PACKAGE = 'dist-test/';
/** Compiled folder → its sources. A compiled test whose source is gone is left over from an earlier build. */
const TEST_FOLDERS = [
  { built: 'dist', source: 'src' },
  { built: 'dist/examples', source: 'examples' },
  { built: 'dist-test/test', source: 'test' },
  { built: 'scripts', source: 'scripts' },
];

/** Returns paths relative to the root, with `/`, sorted: of tests in a browser, or of all others. */
export function testFiles(root, { browser }) {
  const files = TEST_FOLDERS.flatMap(({ built, source }) => {
    if (!existsSync(join(root, built))) return [];
    return readdirSync(join(root, built), { recursive: true, encoding: 'utf8' })
      .map((path) => path.split(sep).join('/'))
      .filter((path) => /\.test\.m?js$/.test(path) && hasSource(join(root, source, path)))
      .map((path) => `${built}/${path}`);
  });
  return files.filter((file) => file.startsWith(BROWSER_TESTS) === browser).sort();
}

function hasSource(path) {
  const stem = path.replace(/\.m?js$/, '');
  return ['.ts', '.tsx', '.js', '.mjs'].some((extension) => existsSync(stem + extension));
}

/**
 * Returns the files in the order in which they are started: tests of the whole package first, and larger files before
 * smaller ones. A long file that is started last would keep one core busy alone.
 */
export function longestFirst(root, files) {
  const weightOf = (file) => [file.startsWith(WHOLE_PACKAGE) ? 1 : 0, statSync(join(root, file)).size];
  const weights = new Map(files.map((file) => [file, weightOf(file)]));
  return files.toSorted((a, b) => {
    const [wholeA, sizeA] = weights.get(a);
    const [wholeB, sizeB] = weights.get(b);
    return wholeB - wholeA || sizeB - sizeA;
  });
}
