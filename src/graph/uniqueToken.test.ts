import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keySplit } from '../base/keySplit.js';
import { uniqueToken } from './uniqueToken.js';

test('tokens are unique and are not part of the prefix of a key', () => {
  const tokens = new Set<string>();
  for (let index = 0; index < 20_000; index++) {
    const token = uniqueToken();
    tokens.add(token);
    assert.equal(keySplit(`read-csv-${token}`), 'read-csv');
  }
  assert.equal(tokens.size, 20_000);
});
