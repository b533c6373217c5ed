// Tests the bridge with a program in the place of Python.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { RunBridge } from './runBridge.js';

it('an event that is no JSON ends the bridge with an error instead of the program', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-bridge-'));
  try {
    const python = join(folder, 'python');
    // One frame: length 1, kind event, process 0. Then the bridge runs until its input ends.
    const frame = String.raw`\000\000\000\001\000\000\000\000\000x`;
    writeFileSync(python, `#!/bin/sh\nprintf '${frame}'\ncat > /dev/null\n`);
    chmodSync(python, 0o755);
    const options = { address: 'tcp://127.0.0.1:1', python, timeout: 1, node: undefined, more: [] };
    const unexpected = (): never => assert.fail('The bridge has not started.');
    await assert.rejects(RunBridge.start({ ...options, onEvent: unexpected, onLost: unexpected }), {
      code: 'ERR_LONGPOLE_DASK_BRIDGE',
      message: /^The output of the bridge to tcp:\/\/127\.0\.0\.1:1 could not be processed/,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
