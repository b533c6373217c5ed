import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isRuntimeTest, RUNTIME_MODULES, RUNTIME_TESTS } from './runtimeTests.mjs';
import { testFiles } from './testFiles.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('every prefix of a path matches a test', () => {
  const files = testFiles(root, { browser: false });
  const unused = RUNTIME_TESTS.filter((beginning) => !files.some((file) => file.startsWith(beginning)));
  assert.deepEqual(unused, []);
});

test('the list has the tests beside every source that uses a module of RUNTIME_MODULES', () => {
  const uses = (text) =>
    RUNTIME_MODULES.some((name) => new RegExp(`(from |import\\(|Module\\()'${name}'`).test(text));
  const folders = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && uses(readFileSync(join(root, 'src', path), 'utf8')))
    .map((path) => `dist/${dirname(path)}/`);
  assert.ok(folders.length > 10);
  const missing = folders.filter((folder) => !isRuntimeTest(folder));
  assert.deepEqual([...new Set(missing)], []);
});
