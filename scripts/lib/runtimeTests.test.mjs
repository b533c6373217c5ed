import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isRuntimeTest, PACKAGE_TESTS, PROCESS_TESTS, RUNTIME_MODULES, SIMULATED } from './runtimeTests.mjs';
import { testFiles } from './testFiles.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = testFiles(root, { browser: false });

test('every prefix of a path matches a test', () => {
  const unused = [...SIMULATED, ...PROCESS_TESTS, ...PACKAGE_TESTS].filter(
    (beginning) => !files.some((file) => file.startsWith(beginning)),
  );
  assert.deepEqual(unused, []);
});

test('unit tests are selected that import a module of RUNTIME_MODULES themselves or through their sources', () => {
  for (const [file, expected] of [
    ['dist/engine/pool/threadIsolate.test.js', true],
    ['dist/diagnostics/span.test.js', true],
    ['dist/graph/shipFunction.test.js', true],
    ['dist/resources/processTree.test.js', true],
    ['dist/engine/cluster/protocolModel.test.js', false],
    ['dist/graph/order.test.js', false],
  ]) {
    assert.ok(files.includes(file), file);
    assert.equal(isRuntimeTest(file), expected, file);
  }
});

test('tests of the whole package are selected if they import a module of RUNTIME_MODULES', () => {
  const uses = (text) => RUNTIME_MODULES.some((name) => text.includes(`from '${name}'`));
  // It only replaces a function of node:fs.
  const other = 'dist-test/test/chromeTraces.test.js';
  const using = files.filter(
    (file) => file.startsWith('dist-test/') && file !== other && uses(readFileSync(join(root, file), 'utf8')),
  );
  assert.ok(using.length > 5);
  assert.deepEqual(
    using.filter((file) => !isRuntimeTest(file)),
    [],
  );
});
