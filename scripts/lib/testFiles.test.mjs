import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { importsModules } from './testFile.mjs';
import {
  CLOSING,
  COMPUTING,
  inBatches,
  LONGEST,
  longestFirst,
  SHARING,
  testFiles,
  WAITING,
} from './testFiles.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Modules of Node that cannot make one test disturb another. */
const HARMLESS = [
  'node:assert/strict',
  'node:fs',
  'node:os',
  'node:path',
  'node:test',
  'node:url',
  'node:vm',
];

/** Modules of Node that affect other tests only if a test does not close what it opens. */
const CLOSED = [
  'node:events',
  'node:http',
  'node:net',
  'node:timers/promises',
  'node:v8',
  'node:worker_threads',
  'node:zlib',
];

for (const [what, beginnings, allowed] of [
  ['only compute', COMPUTING, HARMLESS],
  ['close what they open', CLOSING, [...HARMLESS, ...CLOSED]],
])
  test(`tests that share a process because they ${what} use no module of Node that affects other tests, and no global hook`, () => {
    const shared = testFiles(root, { browser: false }).filter((file) =>
      beginnings.some((beginning) => file.startsWith(beginning)),
    );
    assert.deepEqual(
      beginnings.filter((beginning) => !shared.some((file) => file.startsWith(beginning))),
      [],
    );
    for (const file of shared) {
      const text = readFileSync(join(root, file), 'utf8');
      const modules = Array.from(text.matchAll(/(?:from |import\()'(node:[^']+)'/g), ([, name]) => name);
      assert.deepEqual(
        modules.filter((name) => !allowed.includes(name)),
        [],
        file,
      );
      assert.doesNotMatch(text, /^(before|after|beforeEach|afterEach)\(/m, file);
      assert.doesNotMatch(text, /process\.(env|chdir|exit|kill|on|once|umask)\b/, file);
    }
  });

test('only files that compute share processes, in their order', () => {
  const unit = Array.from({ length: 20 }, (_, index) => `dist/graph/${index}.test.js`);
  const groups = inBatches([
    'dist-test/test/a.test.js',
    ...unit.slice(0, 18),
    'dist/api/b.test.js',
    ...unit.slice(18),
    ...SHARING.slice(0, 6),
  ]);
  assert.deepEqual(groups, [
    ['dist-test/test/a.test.js'],
    unit.slice(0, 16),
    unit.slice(16),
    ['dist/api/b.test.js'],
    SHARING.slice(0, 5),
    SHARING.slice(5, 6),
  ]);
});

test('tests that share clusters with other files exist, run the bundle and have no hook behind the last test', () => {
  for (const file of SHARING) {
    assert.doesNotMatch(
      readFileSync(join(root, file), 'utf8'),
      /^(before|after|beforeEach|afterEach)\(/m,
      file,
    );
    assert.equal(importsModules(join(root, file), root), false, file);
  }
});

test('the longest files start first, then tests of the whole package, the larger ones first', () => {
  const files = testFiles(root, { browser: false });
  const order = longestFirst(root, files);
  assert.deepEqual(order.slice(0, LONGEST.length), LONGEST);
  const whole = order.map((file) => file.startsWith('dist-test/')).slice(LONGEST.length);
  assert.equal(whole.lastIndexOf(true) + 1, whole.indexOf(false));
  assert.deepEqual(
    WAITING.filter((file) => !files.includes(file) || LONGEST.includes(file)),
    [],
  );
});
