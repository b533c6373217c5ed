import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Throttle } from './throttle.js';

test('requests during a pause do not extend it', () => {
  let time = 0;
  const throttle = new Throttle(60, () => time);
  assert.equal(throttle.remaining, 0);
  const tree = throttle.run(() => {
    time += 100;
    return 'tree';
  });
  assert.equal(tree, 'tree');
  // A live page receives a trace every 125 ms. The pause is over at the eighth.
  const remaining = [];
  for (let update = 0; update < 8; update++) {
    remaining.push(throttle.remaining);
    time += 125;
  }
  assert.deepEqual(remaining, [800, 675, 550, 425, 300, 175, 50, 0]);
  throttle.run(() => undefined);
  assert.equal(throttle.remaining, 60);
});
