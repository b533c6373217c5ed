import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { taskCount } from './taskCounts.js';
import { failedTaskCount } from './taskErrors.js';
import { timeByPrefix } from './timeTables.js';
import { unusualRuns } from './unusualRuns.js';

test('a task that ran several times counts once in tables and headings, and has erred if its last run failed', () => {
  const never = { started: Number.NaN, stopped: Number.NaN, acknowledged: 2, state: 'lost' } as const;
  const trace = syntheticTrace({
    tasks: [
      { key: 'a-1', started: 0, stopped: 1, state: 'erred' },
      { key: 'a-1', started: 1, stopped: 2, state: 'erred', attempt: 2 },
      { key: 'a-2', started: 0, stopped: 1, state: 'erred' },
      { key: 'a-2', started: 1, stopped: 2, attempt: 2 },
      { key: 'b-1', ...never },
      { key: 'b-1', started: 2, stopped: 4, attempt: 2 },
      // Its result was lost with its worker.
      { key: 'b-2', started: 1, stopped: 2 },
      { key: 'b-2', started: 3, stopped: 4, attempt: 2 },
      // Each of its runs ended with its worker.
      { key: 'b-3', ...never },
    ],
    events: [{ time: 2, topic: 'task-erred', text: "Task 'b-3' (function b, worker w0) ended its workers." }],
  });
  const rows = timeByPrefix(trace).rows.map((row) => [row['Prefix'], row['Tasks'], row['Erred']]);
  assert.deepEqual(rows, [
    ['a', 2, 1],
    ['b', 3, 1],
  ]);
  assert.deepEqual([taskCount(trace), failedTaskCount(trace)], [5, 2]);
});

test('tasks that were cancelled or skipped before they had a worker count, too', () => {
  const dropped = (activity: string, value: number) => ({
    ...{ time: 1, worker: 'w0', context: 'dropped', prefix: 'a', unit: 'count' },
    ...{ activity, value },
  });
  const trace = syntheticTrace({
    tasks: [
      { key: 'a-1', started: 0, stopped: 1 },
      { key: 'a-2', started: 0, stopped: 1, state: 'cancelled' },
    ],
    metrics: [dropped('cancelled', 100), dropped('skipped', 10)],
  });
  assert.equal(taskCount(trace), 112);
  assert.deepEqual(unusualRuns(trace), [
    [101, 'cancelled'],
    [10, 'did not run'],
  ]);
});
