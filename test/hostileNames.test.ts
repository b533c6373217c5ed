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
import { longpoleIn } from './support/longpoleCommands.js';
import { DUMP_SIGNAL, packageUrl, runProgram } from './support/programs.js';
import type { CommandResult } from './support/runCommand.js';
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

const run = longpoleIn(folder);
const longpole = (...args: string[]): Promise<CommandResult> => run(args);

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

/** Prints each kind of text that Longpole itself writes to the output of a program. */
const PROGRAM = `
import { connect, delayed } from '${packageUrl('index')}';
const hostile = ${JSON.stringify(HOSTILE)};
process.env.LONGPOLE_DUMP_SIGNAL = '${DUMP_SIGNAL}';
const client = await connect({ workers: 1, allowedFailures: 1, dashboard: false });
const waiting = client.submit((x) => x, 1, { key: hostile + '-1', workers: [hostile] });
waiting.catch(() => {});
const alive = setInterval(() => {}, 1e6);
console.log(waiting, String(waiting), delayed((x) => x).withOptions({ key: hostile })(1));
// The warning of the unknown worker.
const [warning] = await new Promise((resolve) => process.once('warning', (...args) => resolve(args)));
console.log(warning.code);
const dumped = new Promise((resolve) => {
  const { write } = process.stderr;
  process.stderr.write = (text, ...more) => {
    if (String(text).includes('end of the dump')) resolve();
    return write.call(process.stderr, text, ...more);
  };
});
process.kill(process.pid, '${DUMP_SIGNAL}');
await dumped;
const throws = client.submit(
  (text) => new Promise(() => setImmediate(() => { throw new Error(text); })), hostile, { key: hostile + '-2' },
);
console.log((await throws.result().catch((error) => error)).code);
waiting.cancel();
await client.close();
clearInterval(alive);
`;

describe('a key with control characters', () => {
  it('has visible symbols in futures, warnings, dumps and the uncaught errors of tasks', async () => {
    const { code, stdout, stderr } = await runProgram(folder, PROGRAM);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /^LONGPOLE_NO_WORKER$/m);
    assert.match(stdout, /^ERR_LONGPOLE_KILLED_WORKER$/m);
    assert.match(stdout, /^<Future pending ␛\]0;T␇␛\[2J/m);
    assert.match(stdout, /Delayed\('␛\]0;T␇␛\[2J/);
    for (const line of ['Tasks may only run on ␛', 'longpole:   ␛', "caused by a task of '␛"])
      assert.ok(stderr.includes(line), `${line}:\n${stderr}`);
    assert.doesNotMatch(stdout + stderr, UNSAFE);
  });

  it('has visible symbols in errors of the command line', async () => {
    const { code, stderr } = await longpole('analyze', `--${TITLE}`);
    assert.equal(code, 2);
    assert.match(stderr, /unknown option '--␛\]0;T␇␛\[2J'/);
    assert.doesNotMatch(stderr, UNSAFE);
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
