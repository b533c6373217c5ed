import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { readProc } from './processTree.js';
import { residentBytes } from './procFile.js';

const skip = process.platform === 'linux' ? false : 'only Linux shows the memory of other processes';

test('an ended process has no size, also while its parent has not asked for its exit code', {
  skip,
  timeout: 300_000,
}, async () => {
  // The shell becomes a program that never asks for the exit code of the shell's child.
  const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec tail -f /dev/null']);
  const [line] = await once(parent.stdout, 'data');
  const child = Number(line);
  try {
    assert.ok(residentBytes(child) > 0);
    process.kill(child, 'SIGKILL');
    while (!/\) Z /.test(readProc(`${child}/stat`) ?? '')) await setImmediate();
    assert.ok(Number.isNaN(residentBytes(child)));
  } finally {
    parent.kill();
  }
});
