import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idleTime } from './idleTime.js';

test('idle time that an interrupted event loop lost is derived from the CPU time of the thread', () => {
  assert.equal(idleTime(1, 0.4, 0.25), 0.75);
  assert.equal(idleTime(1, 0.9, 0.25), 0.9);
  assert.equal(idleTime(1, 1, 0), 1);
});

test('a thread that blocks its event loop, or has no known CPU time, is as idle as the event loop reports', () => {
  assert.equal(idleTime(1, 0, 0.25), 0);
  assert.equal(idleTime(1, 0.1, 0.01), 0.1);
  assert.equal(idleTime(1, 0.4, Number.NaN), 0.4);
  assert.equal(idleTime(0, 0, 0), 0);
});
