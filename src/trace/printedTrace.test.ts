import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from './syntheticTrace.test.support.js';

test('a trace that begins at 0 prints how long it took', () => {
  const tasks = [
    { key: 'load-1', started: 0, stopped: 5 },
    { key: 'sum-1', started: 6, stopped: 10 },
  ];
  assert.equal(String(syntheticTrace({ tasks })), '<Trace: 2 tasks, 1 worker, 10 s>');
});
