import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TASK_ERRED, TASK_MEMORY, type TaskRuns } from '../../protocol/clusterObserver.js';
import { playScript } from '../../trace/live/clusterScript.test.support.js';
import { succeeded } from './watchedComputation.js';

test('succeeded() keeps the rows of tasks with a result in every column', () => {
  const reported: TaskRuns[] = [];
  playScript({ tasksEnded: (runs) => void reported.push(runs) }, { seed: 1, sizes: [1] });
  const [first] = reported;
  assert.ok(first !== undefined);
  const states = [TASK_MEMORY, TASK_ERRED, TASK_MEMORY];
  const floats = Float64Array.of(1, 2, 3);
  const columns = {
    ids: Int32Array.of(1, 2, 3),
    threads: Int32Array.of(1, 2, 3),
    types: Uint16Array.of(1, 2, 3),
    attempts: Uint8Array.of(1, 2, 3),
    nbytes: floats,
    ready: floats,
    dispatched: floats,
    received: floats,
    started: floats,
    stopped: floats,
    coreWaits: floats,
    seceded: floats,
    resumed: floats,
    waited: floats,
    dimensions: Uint8Array.of(1, 2, 3),
  };
  const shapes = Float64Array.of(10, 0, 0, 0, 20, 21, 0, 0, 30, 31, 32, 0);
  const made = succeeded({
    ...first,
    ...columns,
    shapes,
    states: Uint8Array.from(states),
    count: 3,
  });
  assert.deepEqual([...(made.shapes ?? [])], [10, 0, 0, 0, 30, 31, 32, 0]);
  assert.equal(made.count, 2);
  assert.deepEqual([...made.states], [TASK_MEMORY, TASK_MEMORY]);
  const arrays = Object.entries(made).filter(
    ([name, column]) => ArrayBuffer.isView(column) && name !== 'states' && name !== 'shapes',
  );
  assert.deepEqual(
    arrays.map(([name, column]) => [name, [...column]]).sort(),
    Object.keys(columns)
      .sort()
      .map((name) => [name, [1, 3]]),
  );
});
