import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodeNaming } from './codeNaming.js';

/** Records samples of a task from second `start` on, one every 10 ms. */
function hide(naming: CodeNaming, start: number, seconds: number, task = 1): void {
  for (let time = start; time <= start + seconds; time += 0.01) naming.sampled(task, time, true);
}

test('code is discarded once when a profile starts, and 12 s later at the earliest for the next profile', () => {
  const naming = new CodeNaming();
  assert.equal(naming.discardsAt(0), false);
  naming.started();
  assert.equal(naming.discardsAt(1000), true);
  assert.equal(naming.discardsAt(60_000), false);
  naming.started();
  assert.equal(naming.discardsAt(61_000), true);
  naming.started();
  assert.equal(naming.discardsAt(72_999), false);
  assert.equal(naming.discardsAt(73_000), true);
});

test('code is discarded again while samples hide a long task, less and less often', () => {
  const naming = new CodeNaming();
  naming.started();
  assert.equal(naming.discardsAt(0), true);
  const discards: number[] = [];
  for (let second = 0; second < 60; second++) {
    hide(naming, second, 0.5);
    if (naming.discardsAt(second * 1000)) discards.push(second);
  }
  assert.deepEqual(discards, [3, 9, 21, 45]);
});

test('short hidden tasks and tasks that a later sample shows do not discard code', () => {
  const naming = new CodeNaming();
  naming.started();
  assert.equal(naming.discardsAt(0), true);
  for (let task = 0; task < 100; task++) hide(naming, task / 10, 0.05, task);
  assert.equal(naming.discardsAt(20_000), false);
  hide(naming, 20, 1);
  naming.sampled(1, 21.5, false);
  assert.equal(naming.discardsAt(22_000), false);
});
