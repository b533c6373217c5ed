import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { timeByPrefix } from './timeTables.js';

test('runs without a duration do not change the mean, which is unknown if there are no others', () => {
  const never = { started: Number.NaN, stopped: Number.NaN, state: 'lost' } as const;
  const trace = syntheticTrace({
    tasks: [
      { key: 'a-1', started: 0, stopped: 3 },
      { key: 'a-2', ...never },
      { key: 'b-1', ...never },
    ],
  });
  const rows = timeByPrefix(trace).rows.map((row) => [row['Prefix'], row['Tasks'], row['Mean (s)']]);
  assert.deepEqual(rows, [
    ['a', 2, 3],
    ['b', 1, null],
  ]);
});
