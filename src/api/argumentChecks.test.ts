import assert from 'node:assert/strict';
import { test } from 'node:test';
import { argumentsOfCalls } from './argumentChecks.js';

test('the other iterators are closed if one of them ends or throws', () => {
  const closed: string[] = [];
  function* endless(name: string): Generator<number> {
    try {
      for (let i = 0; ; i++) yield i;
    } finally {
      closed.push(name);
    }
  }
  function* failing(): Generator<number> {
    yield 0;
    throw new RangeError('The file is damaged.');
  }
  assert.throws(() => [...argumentsOfCalls([endless('a'), failing(), endless('b')])], RangeError);
  assert.deepEqual(closed.splice(0).sort(), ['a', 'b']);
  assert.deepEqual([...argumentsOfCalls([endless('a'), [7]])], [[0, 7]]);
  assert.deepEqual(closed, ['a']);
});
