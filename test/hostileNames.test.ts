// Keys, names and messages of a trace may contain any character. Texts for people show control characters as visible
// symbols and shorten long names. Data formats keep the original text.
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

/** Writes a Chrome trace of slices with these names, one after the other, each of one second. Returns its path. */
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
  runCommand(process.execPath, [repositoryPath('dist/bundle/main.js'), ...args], { cwd: folder });

describe('a name with control characters', () => {
  for (const args of [
    ['analyze', hostile],
    ['analyze', hostile, long],
    ['analyze', traceOf('single.json', [HOSTILE])],
    ['simulate', hostile],
    ['diff', hostile, hostile],
    ['diff', hostile, long],
  ]) {
    it(`longpole ${args.map((arg) => arg.replace(`${folder}/`, '')).join(' ')} shows visible symbols instead`, async () => {
      const { code, stdout, stderr } = await longpole(...args);
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stdout + stderr, UNSAFE);
      assert.ok(stdout.length < 500_000, `${stdout.length} characters`);
      if (args[0] === 'analyze')
        assert.ok(stdout.includes('␛]0;T␇␛[2J<U+202E><U+009B>31m name\ufffd'), stdout);
    });
  }

  it('stays unchanged in JSON and CSV', async () => {
    const json: unknown = JSON.parse((await longpole('analyze', '--json', hostile)).stdout);
    // Texts of a trace are UTF-8, which cannot encode lone surrogates.
    assert.ok(JSON.stringify(json).includes(JSON.stringify(HOSTILE.slice(0, -1)).slice(1, -1)));
    const csv = await longpole('analyze', '-a', 'task-bottleneck', '-f', 'csv', hostile);
    assert.ok(csv.stdout.includes(HOSTILE.slice(0, -1)), csv.stderr);
    assert.ok((await longpole('analyze', '--json', long)).stdout.includes(LONG));
  });

  it('has visible symbols in the error message of an unreadable file', async () => {
    const { code, stderr } = await longpole('analyze', `${TITLE}.trace`);
    assert.equal(code, 2);
    assert.doesNotMatch(stderr, UNSAFE);
    assert.match(stderr, /␛\]0;T␇␛\[2J\.trace/);
  });

  it('has visible symbols in tables and error messages', () => {
    const text = criticalPath(openTrace(hostile)).toString();
    assert.doesNotMatch(text, UNSAFE);
    assert.match(text, /␛\]0;T/);
    const { message } = new LongpoleError('ERR_LONGPOLE_TASK', `Task '${HOSTILE}' failed.\nSecond line.`);
    assert.doesNotMatch(message, UNSAFE);
    assert.match(message, /failed\.\nSecond line\.$/);
  });
});

describe('a name of a megabyte', () => {
  it('is shortened in tables and error messages, with its length', () => {
    const text = criticalPath(openTrace(long)).toString();
    assert.match(text, /long-x+…x+-end \(1,000,009 characters\)/);
    assert.ok(text.length < 10_000, `${text.length} characters`);
    const { message } = new LongpoleError('ERR_LONGPOLE_TASK', `Task '${LONG}' failed. Look at its cause.`);
    assert.match(message, /^Task 'long-x+…x+-end' failed\. Look at its cause\. \([\d,]+ characters\)$/);
  });

  it('stays complete in CSV files', async () => {
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
