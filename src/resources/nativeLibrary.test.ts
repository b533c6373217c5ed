import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { openLibrary } from './nativeLibrary.js';

test('a library is opened with the addon of koffi alone', () => {
  const getpid = openLibrary([null], (library) => library.func('int getpid()'));
  assert.equal(getpid?.(), process.pid);
  const loaded = Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes('koffi'));
  assert.deepEqual(
    loaded.map((path) => path.endsWith('koffi.node')),
    [true],
  );
});
