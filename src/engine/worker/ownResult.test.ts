// Results are searched for objects whose copy would lose its content, in containers of any kind and size.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notCloneable } from './notCloneable.js';
import { ownResult } from './ownResult.js';

const MANY = Array.from({ length: 2000 }, (_, i) => i);

test('an object that would lose its content is found in large containers', () => {
  const blob = new Blob(['a']);
  const containers = [
    [blob, ...MANY],
    new Set([blob, ...MANY]),
    new Map<unknown, unknown>([[0, blob], ...MANY.map((i) => [i + 1, i] as const)]),
    new Map<unknown, unknown>([[blob, 0], ...MANY.slice(0, 400).map((i) => [i, i] as const)]),
    { deep: [new Map([['a', new Set([[blob]])]])] },
  ];
  for (const container of containers)
    assert.throws(() => ownResult(container), { code: 'ERR_LONGPOLE_NOT_CLONEABLE', message: /Blob/ });
});

test('other large containers are returned as they are', () => {
  for (const container of [MANY, new Set(MANY), new Map(MANY.map((i) => [i, i]))])
    assert.equal(ownResult(container), container);
});

test('the reason and the advice are two sentences', () => {
  for (const reason of ['a getter failed', 'a getter failed.'])
    assert.match(notCloneable(new Error(reason)).message, /: a getter failed\. Return plain data/);
});
