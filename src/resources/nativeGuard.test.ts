import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import {
  enterNative,
  type GuardCell,
  guardThread,
  leaveNative,
  setNativeGuard,
  whenMayEnd,
} from './nativeGuard.js';

const GUARD = new URL('./nativeGuard.js', import.meta.url).href;

function cell(): GuardCell {
  return { cells: new Int32Array(new SharedArrayBuffer(4)), index: 0 };
}

test('a thread is ended only after the last of the addons that it loads at the same time', () => {
  const own = cell();
  setNativeGuard(own);
  assert.ok(enterNative());
  assert.ok(enterNative());
  leaveNative();
  let ended = 0;
  const unguard = guardThread(own);
  whenMayEnd(own, () => ended++);
  assert.equal(ended, 0);
  leaveNative();
  whenMayEnd(own, () => ended++);
  assert.equal(ended, 1);
  assert.equal(enterNative(), false, 'a thread that is about to end loads nothing');
  unguard();
});

test('a process ends after its threads have loaded their addons', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-'));
  try {
    // The thread continues for a while after the process was asked to end.
    const thread = join(folder, 'thread.mjs');
    writeFileSync(
      thread,
      `import { writeFileSync } from 'node:fs';
      import { parentPort, workerData } from 'node:worker_threads';
      import { enterNative, leaveNative, setNativeGuard } from ${JSON.stringify(GUARD)};
      setNativeGuard({ cells: workerData.cells, index: 0 });
      enterNative();
      parentPort.postMessage('loading');
      Atomics.wait(workerData.cells, 1, 0, 300);
      writeFileSync(workerData.file, 'loaded');
      leaveNative();`,
    );
    const main = join(folder, 'main.mjs');
    writeFileSync(
      main,
      `import { Worker } from 'node:worker_threads';
      import { guardThread } from ${JSON.stringify(GUARD)};
      const cells = new Int32Array(new SharedArrayBuffer(8));
      guardThread({ cells, index: 0 });
      const worker = new Worker(${JSON.stringify(thread)}, { workerData: { cells, file: process.argv[2] } });
      worker.on('message', () => process.exit());`,
    );
    const file = join(folder, 'file');
    await promisify(execFile)(process.execPath, [main, file]);
    assert.equal(readFileSync(file, 'utf8'), 'loaded');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
