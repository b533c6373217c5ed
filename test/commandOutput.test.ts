// The streams of `longpole analyze` and `longpole export`: an output that cannot be written, and a named pipe.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { closeSync, lstatSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { unpackFixture } from './support/dasfSmall.js';
import { repositoryPath } from './support/repository.js';
import { runCommand } from './support/runCommand.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-cli-output-'));
after(() => rmSync(folder, { recursive: true }));
const COMMAND = repositoryPath('dist/bundle/main.js');
const chrome = repositoryPath('test/fixtures/chrome/catapult.json');

describe('a command of longpole', () => {
  it('ends with 1 and one message if its output cannot be written', () => {
    // If standard output is a file, `process.stdout.write` throws when a write fails. A file that is open only for reading
    // makes every write fail, as a full disk does.
    const output = openSync(chrome, 'r');
    const { status, stderr } = spawnSync(process.execPath, [COMMAND, 'analyze', '-a', 'queueing', chrome], {
      stdio: ['ignore', output, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(output);
    assert.match(stderr, /^longpole: the output cannot be written: EBADF.*\n$/);
    assert.equal(status, 1);
  });

  it('writes into a pipe', async () => {
    const pipe = join(folder, 'pipe');
    const tasks = unpackFixture('TracePlugin-c096.msgpack', join(folder, 'tasks.msgpack'));
    execFileSync('mkfifo', [pipe]);
    const stop = new AbortController();
    const options = { signal: stop.signal, maxBuffer: 2 ** 30 };
    const reading = promisify(execFile)('cat', [pipe], options);
    // The reader is stopped if no writer opens the pipe.
    reading.catch(() => {});
    try {
      const { code, stdout, stderr } = await runCommand(process.execPath, [
        COMMAND,
        'export',
        tasks,
        '--to',
        'json',
        '-o',
        pipe,
      ]);
      assert.deepEqual([code, stdout], [0, '']);
      assert.match(stderr, /pipe {2}\d\.\d MB\n$/);
      assert.ok(lstatSync(pipe).isFIFO());
      const all: { tasks: object[] } = JSON.parse((await reading).stdout);
      assert.equal(all.tasks.length, 4200);
    } finally {
      stop.abort();
    }
  });
});
