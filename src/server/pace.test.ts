import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pace } from './pace.js';

test('time beyond the allowed time is a debt', () => {
  // The clock stands still.
  const pace = new Pace(1, () => 0);
  assert.ok(pace.hasTime);
  pace.spend(1e6);
  assert.equal(pace.hasTime, false);
  pace.probe();
  pace.refill(false, 1);
  assert.equal(pace.hasTime, false);
});

test('unused time is not saved', () => {
  let now = 0;
  const pace = new Pace(1e9, () => now);
  now = 5000;
  pace.probe();
  pace.refill(false, 1);
  assert.ok(pace.hasTime);
  // At most the time since the pace was made.
  pace.spend(1e6);
  assert.equal(pace.hasTime, false);
});
