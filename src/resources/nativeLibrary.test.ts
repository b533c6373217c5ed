import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { openLibrary } from './nativeLibrary.js';

const require = createRequire(import.meta.url);

test('a library is opened without the modules of koffi, and a program that uses koffi gets its own', async () => {
  const getpid = openLibrary([null], (library) => library.func('int getpid()'));
  assert.equal(getpid?.(), process.pid);
  assert.deepEqual(
    Object.keys(require.cache).filter((path) => path.includes('koffi')),
    [],
  );
  const { default: koffi } = await import('koffi');
  assert.equal(koffi.load(null).func('int getppid()')(), process.ppid);
  assert.equal(getpid?.(), process.pid);
});
