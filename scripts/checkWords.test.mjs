import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { checkWords } from './checkWords.mjs';

const folders = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** Writes a small repository and checks it. */
function check(files, exceptions = []) {
  const root = mkdtempSync(join(tmpdir(), 'words-'));
  folders.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return checkWords(root, exceptions).problems;
}

test('text in the terms of the field has no problems', () => {
  assert.deepEqual(check({ 'src/a.ts': '// Notifies every worker, as long as it is open.\n' }), []);
});

const REFUSED = [
  ['a comment', 'src/a.ts', '\n// The worker is told.', "src/a.ts:2: 'told'"],
  ['a string', 'src/a.ts', "throw new Error('nobody answers');", "src/a.ts:1: 'nobody'"],
  ['a part of an identifier', 'src/a.ts', 'worker.letGo();', "src/a.ts:1: 'let go'"],
  ['a test name', 'test/a.test.ts', "test('it goes on', run);", "test/a.test.ts:1: 'goes on'"],
  ['a document', 'docs/a.md', 'Whoever reads this …', "docs/a.md:1: 'whoever'"],
  ['a unit of time', 'src/a.ts', '/** Time in looks. */', "src/a.ts:1: 'in looks'"],
];
for (const [where, path, text, expected] of REFUSED) {
  test(`finds a word in ${where}`, () => {
    const problems = check({ [path]: text });
    assert.equal(problems.length, 1);
    assert.ok(problems[0].startsWith(expected), problems[0]);
  });
}

test('files of other programs and binary files are not read', () => {
  const text = 'nobody';
  assert.deepEqual(
    check({ 'test/fixtures/a.md': text, 'src/a.json': text, 'node_modules/a/b.md': text, 'dist/a.js': text }),
    [],
  );
});

test('a word with several meanings is refused only where one of them has another term', () => {
  const text = 'const frames = [];';
  assert.equal(check({ 'src/engine/a.ts': text }).length, 1);
  assert.equal(check({ 'src/dashboard/a.ts': text }).length, 1);
  assert.deepEqual(check({ 'src/dashboard/a.ts': '// In the next animation frame.' }), []);
  assert.deepEqual(check({ 'src/profile/a.ts': text, 'src/engine/b.ts': '// The stack frames.' }), []);
});

test('an exception covers its line, and an exception that matches nothing is a problem', () => {
  const exceptions = [{ path: 'docs/a.md', text: 'that nobody notices' }];
  assert.deepEqual(check({ 'docs/a.md': 'An error that nobody notices.' }, exceptions), []);
  assert.deepEqual(check({ 'docs/a.md': 'An error that a person misses.' }, exceptions), [
    "The exception 'that nobody notices' for docs/a.md matches nothing",
  ]);
});
