// The streams of commands: an output that cannot be written, the standard output, and a named pipe.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, lstatSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { unpackFixture } from './support/dasfSmall.js';
import { longpoleIn } from './support/longpoleCommands.js';
import { repositoryPath } from './support/repository.js';
import { runCommand } from './support/runCommand.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-cli-output-'));
after(() => rmSync(folder, { recursive: true }));
const longpole = longpoleIn(folder);
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

  for (const output of ['-', '/dev/stdout']) {
    const args = [COMMAND, 'export', chrome, '--to', 'dasf', '-o'];

    it(`writes a file to the standard output for ${output}`, () => {
      const { status, stdout } = spawnSync(process.execPath, [...args, output], { cwd: folder });
      assert.equal(status, 0);
      spawnSync(process.execPath, [...args, 'named.msgpack'], { cwd: folder });
      assert.deepEqual(stdout, readFileSync(join(folder, 'named.msgpack')));
      assert.ok(!existsSync(join(folder, '-')));
    });

    it(`ends with 0 and no message if the reader of ${output} ends first`, async () => {
      const html = [COMMAND, 'export', chrome, '--to', 'html', '-o', output];
      const child = spawn(process.execPath, html, { stdio: ['ignore', 'pipe', 'pipe'] });
      let messages = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        messages += text;
      });
      child.stdout.destroy();
      assert.deepEqual(await once(child, 'close'), [0, null]);
      assert.equal(messages, '');
    });
  }

  for (const [args, message] of [
    [
      ['export', chrome, '--to', 'csv', '-o', '-'],
      /^longpole: --output - is the standard output\. The format csv/,
    ],
    [['export', chrome, '--to', 'json', '--json', '-o', '-'], /^longpole: --json needs the standard output/],
    [['analyze', chrome, '-o', '-'], /^longpole: --output - is the standard output/],
    [
      ['diff', chrome, chrome, '--page', '-'],
      /^longpole: --page: expected the name of a file that ends in \.html/,
    ],
    [['run', '--report', '-', COMMAND], /^longpole: --report - is the standard output/],
    [['run', '--trace', '-', COMMAND], /^longpole: --trace - is the standard output/],
    [['dask', 'record', '-o', '-', 'tcp://127.0.0.1:1'], /^longpole: --output - is the standard output/],
    [['dask', 'report', '-o', '-', 'tcp://127.0.0.1:1'], /^longpole: --output - is the standard output/],
  ] as const)
    it(`refuses the standard output before any work: ${args.filter((arg) => arg !== chrome && arg !== COMMAND).join(' ')}`, async () => {
      const { code, stdout, stderr } = await longpole(args);
      assert.match(stderr, message);
      assert.deepEqual([code, stdout], [2, '']);
      assert.ok(!existsSync(join(folder, '-')));
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
