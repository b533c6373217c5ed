import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SchedulerLoad } from './schedulerLoad.js';

test('counts the time of the scheduler by stimulus, also if the work for a stimulus throws', () => {
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
