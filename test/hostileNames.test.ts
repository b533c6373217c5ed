// Keys, names and messages of a trace may hold anything. What a person reads shows control characters by visible signs and
// shortens long names; data keeps the true text.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { LongpoleError } from 'longpole';
import { criticalPath } from 'longpole/analysis';
import { openTrace } from 'longpole/trace';
import { repositoryPath } from './support/repository.js';
import { type CommandResult, runCommand } from './support/runCommand.js';
import { UNSAFE } from './support/unsafeText.js';

const TITLE = '\u001b]0;T\u0007\u001b[2J';
const HOSTILE = `${TITLE}\u202e\u009b31m\rname\ud800`;
const LONG = `long-${'x'.repeat(1_000_000)}-end`;

const folder = mkdtempSync(join(tmpdir(), 'longpole-hostile-'));
after(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);

/** A Chrome trace whose slices have these names, one second each, one after the other on one thread. */
function traceOf(name: string, names: readonly string[]): string {
  const traceEvents = names.map((event, i) => ({
    name: event,
    cat: event,
    ph: 'X',
    ts: i * 1e6,
    dur: 1e6,
    pid: 1,
    tid: 1,
  }));
  writeFileSync(path(name), JSON.stringify({ traceEvents }));
  return path(name);
}

const hostile = traceOf('hostile.json', [HOSTILE, 'plain', HOSTILE, HOSTILE]);
const long = traceOf('long.json', [LONG, LONG, 'plain']);

const longpole = (...args: string[]): Promise<CommandResult> =>
  runCommand(process.execPath, [repositoryPath('dist/cli/main.js'), ...args], { cwd: folder });

describe('names that would control the terminal', () => {
  for (const args of [
    ['analyze', hostile],
    ['analyze', hostile, long],
    ['simulate', hostile],
    ['diff', hostile, hostile],
    ['diff', hostile, long],
  ]) {
    it(`longpole ${args.map((arg) => arg.replace(`${folder}/`, '')).join(' ')} shows them by visible signs`, async () => {
      const { code, stdout, stderr } = await longpole(...args);
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stdout + stderr, UNSAFE);
      assert.ok(stdout.length < 500_000, `${stdout.length} characters`);
      if (args[0] === 'analyze')
        assert.ok(stdout.includes('␛]0;T␇␛[2J<U+202E><U+009B>31m name\ufffd'), stdout);
    });
  }

  it('--json and CSV keep the true text', async () => {
    const json: unknown = JSON.parse((await longpole('analyze', '--json', hostile)).stdout);
    // Texts of a trace are UTF-8, which has no lone surrogates.
    assert.ok(JSON.stringify(json).includes(JSON.stringify(HOSTILE.slice(0, -1)).slice(1, -1)));
    const csv = await longpole('analyze', '-a', 'task-bottleneck', '-f', 'csv', hostile);
    assert.ok(csv.stdout.includes(HOSTILE.slice(0, -1)), csv.stderr);
    assert.ok((await longpole('analyze', '--json', long)).stdout.includes(LONG));
  });

  it('an unreadable file with such a name is named by visible signs', async () => {
    const { code, stderr } = await longpole('analyze', `${TITLE}.trace`);
    assert.equal(code, 2);
    assert.doesNotMatch(stderr, UNSAFE);
    assert.match(stderr, /␛\]0;T␇␛\[2J\.trace/);
  });

  it('tables as text, and messages of errors', () => {
    const text = criticalPath(openTrace(hostile)).toString();
    assert.doesNotMatch(text, UNSAFE);
    assert.match(text, /␛\]0;T/);
    const { message } = new LongpoleError('ERR_LONGPOLE_TASK', `Task '${HOSTILE}' failed.\nSecond line.`);
    assert.doesNotMatch(message, UNSAFE);
    assert.match(message, /failed\.\nSecond line\.$/);
  });
});

describe('names of a megabyte', () => {
  it('tables and errors show their beginning, their end and their length', () => {
    const text = criticalPath(openTrace(long)).toString();
    assert.match(text, /long-x+…x+-end \(1,000,009 characters\)/);
    assert.ok(text.length < 10_000, `${text.length} characters`);
    const { message } = new LongpoleError('ERR_LONGPOLE_TASK', `Task '${LONG}' failed. Look at its cause.`);
    assert.match(message, /^Task 'long-x+…x+-end' failed\. Look at its cause\. \([\d,]+ characters\)$/);
  });

  it('files of data keep them', async () => {
    const { code, stderr } = await longpole(
      'analyze',
      '-o',
      'out',
      '-f',
      'csv',
      '-a',
      'task-bottleneck',
      long,
    );
    assert.equal(code, 0, stderr);
    assert.ok(readFileSync(path('out/task-bottleneck.csv'), 'utf8').includes(LONG));
  });
});
