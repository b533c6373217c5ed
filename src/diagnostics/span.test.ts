import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { definedSpans, type SpanRef } from '../graph/definedWith.js';
import { delayed } from '../graph/taskFunction.js';
import { span } from './span.js';

const inc = delayed((value: number) => value + 1);
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('tasks have the span in which they were defined, and spans nest', () => {
  const before = inc(0);
  {
    using alice = span('Alice');
    assert.deepEqual(alice.tags, ['Alice']);
    const inside = inc(1);
    const load = span('load', () => {
      assert.deepEqual(definedSpans.current?.tags, ['Alice', 'load']);
      return inc(2);
    });
    assert.deepEqual(definedSpans.of(inside)?.tags, ['Alice']);
    assert.deepEqual(definedSpans.of(load)?.tags, ['Alice', 'load']);
  }
  assert.equal(definedSpans.of(before), undefined);
  assert.equal(definedSpans.of(inc(3)), undefined);
  assert.equal(definedSpans.current, undefined);
});

test('a span has the lines that opened it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'span-'));
  try {
    // The lines of this file do not count, because it is in a folder of the package.
    const program = join(folder, 'program.mjs');
    writeFileSync(
      program,
      "export const opened = (span, current) => span('outer', () => span('inner', current));",
    );
    const {
      opened,
    }: { opened: (open: typeof span, current: () => SpanRef | undefined) => SpanRef | undefined } =
      await import(pathToFileURL(program).href);
    const { code } = opened(span, () => definedSpans.current) ?? {};
    assert.equal(code?.length, 2);
    for (const line of code) assert.match(line, /program\.mjs:1 {2}.*span\('outer'/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('concurrent code keeps to its own span, also after an await', async () => {
  const work = (name: string): Promise<(readonly string[] | undefined)[]> =>
    span(name, async () => {
      const seen = [definedSpans.current?.tags];
      await tick();
      using _inner = span('inner');
      await tick();
      seen.push(definedSpans.current?.tags);
      return seen;
    });
  assert.deepEqual(await Promise.all([work('a'), work('b')]), [
    [['a'], ['a', 'inner']],
    [['b'], ['b', 'inner']],
  ]);
  assert.equal(definedSpans.current, undefined);
});

test('a span that throws is closed', () => {
  const failing = (): never => {
    using _span = span('failing');
    throw new RangeError('no');
  };
  assert.throws(failing, RangeError);
  assert.throws(() => span('failing', failing), RangeError);
  assert.equal(definedSpans.current, undefined);
});

test('a span that is only created is not open', () => {
  const made = span('later');
  assert.equal(definedSpans.current, undefined);
  assert.equal(made.id, 'later');
});

test('an invalid name or function is rejected', () => {
  const refused = { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' };
  assert.throws(() => span(''), refused);
  assert.throws(() => Reflect.apply(span, undefined, ['load', 3]), refused);
});
