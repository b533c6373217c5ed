import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currentActivity } from './currentActivity.js';

const rows = (...runs: readonly (readonly [start: number, stop: number])[]) => ({
  length: runs.length,
  started: Float64Array.from(runs, ([start]) => start),
  stopped: Float64Array.from(runs, ([, stop]) => stop),
});

test('the current activity begins with the first task after a pause', () => {
  assert.deepEqual(currentActivity(rows([0, 1], [1, 2], [20, 21], [22, 24]), [], 60), {
    start: 20,
    stop: 24,
  });
  assert.deepEqual(currentActivity(rows([0, 1], [4, 5], [9, 10]), [], 60), { start: 0, stop: 10 });
});

test('while tasks run, the current activity ends now', () => {
  assert.deepEqual(currentActivity(rows([0, 1], [20, 21]), [{ started: 21 }], 30), { start: 20, stop: 30 });
  assert.deepEqual(currentActivity(rows([0, 1]), [{ started: 21 }], 30), { start: 21, stop: 30 });
});

test('a long task that is reported late belongs to the activity, and so do the tasks beside it', () => {
  const run = rows([0, 1], [11, 12], [20, 21], [10, 21.5], [22, 23]);
  assert.deepEqual(currentActivity(run, [], 60), { start: 10, stop: 23 });
});

test('tasks that never started are no activity', () => {
  assert.equal(currentActivity(rows([Number.NaN, Number.NaN]), [], 60), undefined);
  assert.deepEqual(currentActivity(rows([1, 2], [Number.NaN, 50]), [], 60), { start: 1, stop: 2 });
});
