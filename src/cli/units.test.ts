import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSeconds } from './units.js';

test('times may have units, and other texts are rejected', () => {
  assert.deepEqual(
    ['0', '0.0002', '200us', '0.2 ms', '200µs', '2e-4', '1s'].map(parseSeconds),
    [0, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 1],
  );
  for (const text of ['', 'abc', '-1', '1 fortnight', 'ms', '1.2.3'])
    assert.throws(() => parseSeconds(text), /is not a time\. Write e\.g\. 0\.0002 or 200us/, text);
});
