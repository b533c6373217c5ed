import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesText } from './words.js';

test('a size that rounds up to the next unit is printed in that unit', () => {
  assert.deepEqual([999, 999_400, 999_600, 999.9e6, 1e15].map(bytesText), [
    '999 B',
    '999 kB',
    '1 MB',
    '1 GB',
    '1,000 TB',
  ]);
});
