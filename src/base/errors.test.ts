import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { adviceFor, ERROR_CODES, KilledWorkerError, LongpoleError, TaskError } from './errors.js';

const DOCS = new URL('../../docs/errors.md', import.meta.url);

/** Returns the text below the heading of each code. */
function documented(): Map<string, string> {
  const sections = readFileSync(DOCS, 'utf8').split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const end = section.indexOf('\n');
      return [section.slice(0, end).trim(), section.slice(end + 1).trim()];
    }),
  );
}

test('docs/errors.md explains every code, and no other, in the order of the catalogue', () => {
  assert.deepEqual([...documented().keys()], Object.keys(ERROR_CODES));
});

for (const [code, summary] of Object.entries(ERROR_CODES)) {
  test(`docs/errors.md says what ${code} is, why it happens and what to do`, () => {
    const section = documented().get(code) ?? '';
    assert.ok(section.startsWith(`${summary}\n`), `begins with "${summary}"`);
    assert.match(section, /^- Why: \S/m);
    assert.match(section, /^- What to do: \S/m);
  });
}

test('an error carries its code, its class name and its cause', () => {
  const cause = new Error('deep');
  const error = new LongpoleError('ERR_LONGPOLE_CYCLE', 'a -> a', { cause });
  assert.deepEqual(
    [error.code, error.name, error.message, error.cause],
    ['ERR_LONGPOLE_CYCLE', 'LongpoleError', 'a -> a', cause],
  );
  assert.ok(error instanceof Error);
});

test('a task error names its key, its function and its worker', () => {
  const where = { key: 'inc-0', function: 'inc', worker: 'threads-1' };
  const error = new TaskError(where, 'no luck');
  assert.deepEqual([error.key, error.function, error.worker], ['inc-0', 'inc', 'threads-1']);
  assert.equal(error.code, 'ERR_LONGPOLE_TASK');
  const killed = new KilledWorkerError(where, 3, 'three times');
  assert.deepEqual(
    [killed.code, killed.attempts, killed.name],
    ['ERR_LONGPOLE_KILLED_WORKER', 3, 'KilledWorkerError'],
  );
  assert.ok(killed instanceof TaskError);
});

test('an error keeps its code and message whatever the program does to the stacks of errors', () => {
  const original = Object.getOwnPropertyDescriptors(Error);
  const made = () => new LongpoleError('ERR_LONGPOLE_CYCLE', 'a -> a');
  const withError = (properties: PropertyDescriptorMap): LongpoleError => {
    try {
      Object.defineProperties(Error, properties);
      const error = made();
      assert.deepEqual([error.code, error.message], ['ERR_LONGPOLE_CYCLE', 'a -> a']);
      return error;
    } finally {
      Reflect.deleteProperty(Error, 'prepareStackTrace');
      Object.defineProperties(Error, original);
    }
  };
  const prepared = (value: unknown): PropertyDescriptorMap => ({
    prepareStackTrace: { value: () => value, configurable: true },
  });
  assert.deepEqual(withError(prepared(['site'])).stack, ['site']);
  const text = 'first\nsecond\nthird';
  assert.equal(withError(prepared(text)).stack, text);
  for (const limit of [0, undefined])
    assert.doesNotMatch(withError({ stackTraceLimit: { value: limit } }).stack ?? '', / at /);
  assert.equal(withError({ stackTraceLimit: { value: 3 } }).stack?.split('\n').length, 4);
  assert.match(
    withError({ stackTraceLimit: { value: 3, writable: false } }).stack ?? '',
    /^LongpoleError: a -> a\n {4}at made /,
  );
});

test('the stack of an error has its whole message, also an empty one, one of several lines, or a part of its name', () => {
  for (const message of ['', 'E', 'a\n    at b (c:1:2)\na'])
    assert.ok(
      new LongpoleError('ERR_LONGPOLE_CYCLE', message).stack?.startsWith(
        `LongpoleError${message && `: ${message}`}\n    at `,
      ),
    );
});

test('the advice for a call that the permissions of Node forbid is the option that Node names', () => {
  const cause = new Error('Access to this API has been restricted. Use --allow-net to manage permissions.');
  assert.equal(adviceFor(cause, 'Pass another localDirectory.'), 'Pass this option to Node.');
});
