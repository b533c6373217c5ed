import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SchedulerLoad } from './schedulerLoad.js';

test('returns the longest delay of the thread since the last call', () => {
  const load = new SchedulerLoad();
  const { max, longest } = load.takeEventLoopDelay();
  assert.ok(max >= 0 && longest >= 0);
  assert.equal(load.ticks, 0);
  load.close();
});
