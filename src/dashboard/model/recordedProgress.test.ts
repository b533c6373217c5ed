import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { recordedProgress } from './recordedProgress.js';

test('cancelled and lost runs do not count as finished', () => {
  const never = { started: Number.NaN, stopped: Number.NaN, acknowledged: 2 };
  const trace = syntheticTrace({
    tasks: [
      { key: 'a-1', started: 0, stopped: 1 },
      { key: 'a-2', started: 1, stopped: 2, state: 'erred' },
      { key: 'a-3', ...never, state: 'cancelled' },
      { key: 'b-1', ...never, state: 'lost' },
      { key: 'b-1', started: 2, stopped: 4, attempt: 2 },
    ],
  });
  const counts = recordedProgress(trace).map(({ seconds: _, processing, ...row }) => row);
  assert.deepEqual(counts, [
    { prefix: 'a', total: 3, finished: 1, erred: 1, cancelled: 1 },
    { prefix: 'b', total: 1, finished: 1, erred: 0, cancelled: 0 },
  ]);
});
