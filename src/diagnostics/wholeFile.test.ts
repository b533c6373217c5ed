import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';

const folder = mkdtempSync(join(tmpdir(), 'longpole-whole-'));
after(() => rmSync(folder, { recursive: true }));

it('a page that the system does not write to its end leaves the earlier page, and no other file', () => {
  const page = join(folder, 'page.html');
  writeFileSync(page, 'earlier');
  const module = new URL('wholeFile.js', import.meta.url).href;
  const program = `import { writeWhole } from '${module}'; writeWhole('page', process.argv[1], 'x'.repeat(1e6));`;
  // A limit of the size of files makes a write fail in the middle, as a full disk does. Without the trap it ends the process.
  const { status, stderr } = spawnSync(
    'sh',
    [
      '-c',
      `trap '' XFSZ; ulimit -f 8; exec "$@"`,
      'sh',
      process.execPath,
      '--input-type=module',
      '-e',
      program,
      page,
    ],
    { encoding: 'utf8' },
  );
  assert.equal(status, 1);
  assert.match(stderr, /The page .*page\.html cannot be written: EFBIG/);
  assert.equal(readFileSync(page, 'utf8'), 'earlier');
  assert.deepEqual(readdirSync(folder), ['page.html']);
});
