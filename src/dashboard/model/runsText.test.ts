import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { runsText } from './runsText.js';

test('runs that repeat a task are not counted as tasks', () => {
  const trace = syntheticTrace({
    tasks: [
      { key: 'a', started: 0, stopped: 1 },
      { key: 'b', started: 1, stopped: 2, state: 'erred', attempt: 1 },
      { key: 'b', started: 2, stopped: 3, attempt: 2 },
    ],
  });
  assert.equal(runsText(trace, [0, 1, 2]), '3 runs of 2 tasks');
  assert.equal(runsText(trace, [0, 1]), '2 tasks');
  assert.equal(runsText(trace, [0]), '1 task');
});
