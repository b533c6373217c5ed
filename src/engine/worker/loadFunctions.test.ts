import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadFunctions } from './loadFunctions.js';

test('functions whose names and sources together read alike stay different', async () => {
  const [one, two] = await loadFunctions([
    { type: 'source', name: 'a', expression: 'async () => 1' },
    { type: 'source', name: 'a async', expression: '() => 1' },
  ]);
  assert.equal(two!(), 1);
  assert.equal(await one!(), 1);
  assert.notEqual(one, two);
});
