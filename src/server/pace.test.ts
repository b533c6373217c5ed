import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pace } from './pace.js';

test('what takes longer than it may is owed', () => {
  // No time passes: a debt of a millisecond is paid off in two.
  const pace = new Pace(1, () => 0);
  assert.ok(pace.hasTime);
  pace.spend(1e6);
  assert.equal(pace.hasTime, false);
  pace.probe();
  pace.refill(false, 1);
  assert.equal(pace.hasTime, false);
});

test('time that was left is not saved', () => {
  let now = 0;
  const pace = new Pace(1e9, () => now);
  now = 5000;
  pace.probe();
  pace.refill(false, 1);
  assert.ok(pace.hasTime);
  // No more than all of the time since it was made.
  pace.spend(1e6);
  assert.equal(pace.hasTime, false);
});
