import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskIntervalLog } from './taskIntervalLog.js';

test('consecutive short tasks of one kind are one interval, other tasks are separate', () => {
  const log = new TaskIntervalLog();
  log.add(1, 1.0001, 10, 0);
  log.add(1.0001, 1.0002, 11, 0);
  log.add(1.0002, 1.0003, 12, 1);
  log.add(2, 3, 13, 1);
  assert.deepEqual(log.between(0, 10), {
    starts: [1, 1.0002, 2],
    stops: [1.0002, 1.0003, 3],
    tasks: [11, 12, 13],
  });
});

test('a query returns overlapping intervals and the running task, and nothing forgotten', () => {
  const log = new TaskIntervalLog();
  for (let task = 0; task < 5; task++) log.add(task, task + 1, task, task);
  assert.deepEqual(log.between(1.5, 2.5).tasks, [1, 2]);
  assert.deepEqual(log.between(4.5, 9, { start: 5, task: 99 }).tasks, [4, 99]);
  log.forget(3.5);
  assert.deepEqual(log.between(0, 9).tasks, [3, 4]);
});

test('a full log keeps the shares of the kinds', () => {
  const log = new TaskIntervalLog(64);
  for (let task = 0; task < 1000; task++) log.add(task * 1e-6, (task + 1) * 1e-6, task, task);
  const { starts, stops } = log.between(0, 1);
  assert.ok(starts.length <= 64);
  const covered = Array.from(starts).reduce((sum, start, index) => sum + (stops[index] ?? 0) - start, 0);
  assert.ok(covered > 0.9e-3, `only ${covered} of 0.001 s have a task`);
});
