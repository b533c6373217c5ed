import assert from 'node:assert/strict';
import { test } from 'node:test';
import { thenEnding } from './thenEnding.js';

const fail = (message: string) => async (): Promise<never> => {
  throw new Error(message);
};

test('the error of a function is thrown even if its end fails, too', async () => {
  await assert.rejects(thenEnding(fail('function'), fail('end')), /function/);
});

test('a function without an error has its result, or the error of its end', async () => {
  const ends: string[] = [];
  assert.equal(
    await thenEnding(
      () => 1,
      async () => ends.push('end'),
    ),
    1,
  );
  assert.deepEqual(ends, ['end']);
  await assert.rejects(
    thenEnding(() => 1, fail('end')),
    /end/,
  );
});
