import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startThread } from './isolateThread.js';

test('a thread that cannot be started ends as one that fails during its start', async () => {
  // Worker() throws for a value that cannot be cloned, as it does if the system refuses a thread.
  const mailbox = new Int32Array(new SharedArrayBuffer(64));
  const vitals = new Float64Array(new SharedArrayBuffer(64));
  const birth = { mailbox, vitals, epochOffsetMs: 0, name: 'refused', metered: false, asks: false };
  const thread = startThread(Object.assign(birth, { uncloneable: () => undefined }));
  const errors: unknown[] = [];
  thread.on('error', (error) => errors.push(error));
  const ended = new Promise((resolve) => thread.on('exit', resolve));
  thread.postMessage({ type: 'close', run: 1 });
  assert.equal(await ended, 1);
  assert.match(String(errors), /could not be cloned/);
});
