import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeByPrefix } from '../../analysis/timeTables.js';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { groupGraph } from './groupGraph.js';
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

test('tasks count by their last run: a failed run that another one followed does not count, and all runs lost is a failure', () => {
  const failure = {
    time: 5,
    topic: 'task-erred',
    text: "Task 'b-1' (function b, worker w0) ended its workers",
  };
  const trace = syntheticTrace({
    tasks: [
      { key: 'a-1', started: 0, stopped: 1, state: 'erred' },
      { key: 'a-1', started: 1, stopped: 2, attempt: 2 },
      { key: 'a-2', started: 2, stopped: 3, state: 'erred' },
      { key: 'b-1', started: 3, stopped: 4, state: 'lost' },
    ],
    events: [failure],
  });
  const counts = recordedProgress(trace).map(({ seconds: _, processing, ...row }) => row);
  assert.deepEqual(counts, [
    { prefix: 'a', total: 2, finished: 1, erred: 1, cancelled: 0 },
    { prefix: 'b', total: 1, finished: 0, erred: 1, cancelled: 0 },
  ]);
  assert.deepEqual(
    timeByPrefix(trace).rows.map((row) => [row['Prefix'], row['Erred']]),
    [
      ['a', 1],
      ['b', 1],
    ],
  );
  assert.deepEqual(
    groupGraph(trace).nodes.map(({ name, erred }) => [name, erred]),
    [
      ['a', 1],
      ['b', 1],
    ],
  );
});
