import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

/** Opens files until the system refuses, and then does what Longpole does in such a program. */
const PROGRAM = `
  import { spawn } from 'node:child_process';
  import { openSync, writeSync } from 'node:fs';
  import { loadPackage } from '${new URL('../base/packages.js', import.meta.url)}';
  import { killChild } from '${new URL('../base/killChild.js', import.meta.url)}';
  import { processRss } from '${new URL('processRss.js', import.meta.url)}';

  const before = processRss();
  try { for (;;) openSync(process.execPath); } catch (error) { writeSync(1, error.code + '\\n'); }
  const child = spawn(process.execPath, ['--version'], { stdio: 'inherit' });
  killChild(child, 'SIGKILL');
  child.on('error', (error) => {
    writeSync(1, error.code + ' ' + child.pid + '\\n');
    const read = performance.now() + 6;
    while (performance.now() < read);
    writeSync(1, (before > 1e6) + ' ' + (processRss() === before) + '\\n');
    try { loadPackage('acorn'); } catch (error) { writeSync(1, error.code + ': ' + error.message + '\\n'); }
  });`;

test('a program that has used up its files is not ended by Longpole, and learns the reason of what fails', async () => {
  const command = [
    '-c',
    'ulimit -n 64; exec "$0" "$@"',
    process.execPath,
    '--input-type=module',
    '-e',
    PROGRAM,
  ];
  const child = spawn('sh', command, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const ended = once(child, 'close');
  const printed = await text(child.stdout);
  assert.deepEqual(await ended, [0, null]);
  const [limit, failed, size, reason = ''] = printed.split('\n');
  assert.deepEqual([limit, failed, size], ['EMFILE', 'EMFILE undefined', 'true true']);
  assert.match(
    reason,
    /^ERR_LONGPOLE_INSTALLATION: The package 'acorn' cannot be loaded: EMFILE: .*\. Close files .* ulimit -n 1024\.$/,
  );
});
