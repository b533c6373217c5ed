import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { InstantEvent } from '../trace/formats/dasf/dasfEvents.js';
import { FileDatabase } from './fileDatabase.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-database-'));
after(() => rmSync(folder, { recursive: true, force: true }));

it('a command flock that is killed keeps the events, and the next write calls it again', {
  skip: process.platform !== 'linux' && 'Linux has the command flock',
}, () => {
  const calls = join(folder, 'calls');
  const command = join(folder, 'flock');
  writeFileSync(
    command,
    `#!/bin/sh\necho call >> '${calls}'\n[ $(wc -l < '${calls}') -gt 1 ] || kill -9 $$\nPATH=/usr/bin:/bin exec flock "$@"\n`,
  );
  chmodSync(command, 0o755);
  const url = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
  const program = `
    import { InstantEvent } from ${url('../trace/formats/dasf/dasfEvents.js')};
    import { FileDatabase } from ${url('./fileDatabase.js')};
    const database = new FileDatabase(${JSON.stringify(join(folder, 'locked.msgpack'))});
    database.record(new InstantEvent('x', 1));
    try {
      database.commit();
    } catch ({ code, message }) {
      console.log(code, message);
    }
    database.close();
    console.log([...database.getTraces()].length);
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${folder}:/usr/bin:/bin` },
  });
  assert.match(stdout, /^ERR_LONGPOLE_TRACE_FILE .*flock was ended by SIGKILL.*\n1\n$/, stderr);
  assert.equal(readFileSync(calls, 'utf8'), 'call\ncall\n');
});

it('an event whose arguments readers would drop, because they are nested too deeply, is refused', () => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
  const database = new FileDatabase(join(folder, 'nested.msgpack'));
  database.record(new InstantEvent('deep', 1, { args: { value: nested(62) } }));
  database.record(new InstantEvent('flat', 2, { args: { value: nested(61) } }));
  assert.throws(() => database.commit(), {
    code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
    message: /'deep'.*nested deeper than 61 levels/,
  });
  database.close();
  assert.deepEqual(
    [...database.getTraces()].map(({ name }) => name),
    ['flat'],
  );
});
