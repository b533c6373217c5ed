// Tests the start of a bridge in a process that cannot open another file.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';

it('a bridge that cannot start because too many files are open says so, and what to do', {
  skip: process.platform !== 'linux' && 'limits the number of files with the ulimit of Linux',
}, () => {
  const program = `
    import { openSync } from 'node:fs';
    import { DaskBridge } from ${JSON.stringify(new URL('./bridgeProcess.js', import.meta.url).href)};
    try {
      for (;;) openSync('/dev/null');
    } catch {}
    DaskBridge.start({ address: 'tcp://127.0.0.1:1', python: process.execPath, timeout: 1, onRow() {} })
      .catch(({ code, message }) => console.log(code, message));
  `;
  const { status, stdout, stderr } = spawnSync(
    'sh',
    ['-c', 'ulimit -n 64; exec "$0" --input-type=module -e "$1"', process.execPath, program],
    { encoding: 'utf8' },
  );
  assert.match(
    stdout,
    /^ERR_LONGPOLE_DASK_BRIDGE The bridge to tcp:\/\/127\.0\.0\.1:1 could not be started, because too many files are open/,
    stderr,
  );
  assert.equal(status, 0);
});
