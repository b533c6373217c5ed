import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TASK_LOST } from '../../protocol/clusterObserver.js';
import { computationOf, runsOf } from './observed.test.support.js';
import { SchedulerLoad } from './schedulerLoad.js';
import { DURATION_BOUNDS, TaskDurations } from './taskDurations.js';

test('tasks are counted in the bucket whose bound is not below their duration', () => {
  const durations = new TaskDurations();
  const computation = computationOf([['default'], ['default'], ['default']]);
  durations.tasksEnded(runsOf(computation, [0, 1], { start: 0, stop: 0.01 }));
  durations.tasksEnded(runsOf(computation, [2], { start: 0, stop: 5000 }));
  durations.tasksEnded(runsOf(computation, [2], { start: 0, stop: 1, state: TASK_LOST }));
  const [inc] = durations.histograms;
  assert.equal(inc?.prefix, 'inc');
  assert.equal(inc?.count, 3);
  assert.equal(inc?.sum, 5000.02);
  assert.equal(inc?.buckets[DURATION_BOUNDS.indexOf(0.01)], 2);
  assert.equal(inc?.buckets[DURATION_BOUNDS.length], 1);
});

test('the time of the scheduler by stimulus, also of one that throws', () => {
  const load = new SchedulerLoad();
  assert.equal(
    load.measure('tasks-finished', () => 7),
    7,
  );
  load.add('tasks-finished', 2);
  const failing = (): never => {
    throw new RangeError('no');
  };
  assert.throws(() => load.measure('worker-lost', failing), RangeError);
  assert.equal(load.stimuli.get('tasks-finished')?.count, 2);
  assert.equal(load.stimuli.get('worker-lost')?.count, 1);
  assert.ok(load.busySeconds >= 2);
  const { mean, max, p99 } = load.takeEventLoopDelay();
  assert.ok(mean >= 0 && max >= 0 && p99 >= 0);
  load.close();
});
