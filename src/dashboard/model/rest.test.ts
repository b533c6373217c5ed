import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rest } from './rest.js';

test('what is asked for during a rest is not put off by asking', () => {
  let time = 0;
  const rest = new Rest(60, () => time);
  assert.equal(rest.left, 0);
  const tree = rest.after(() => {
    time += 100;
    return 'tree';
  });
  assert.equal(tree, 'tree');
  // A live page gets a new trace every 125 ms: the seventh of them is computed.
  const lefts = [];
  for (let update = 0; update < 8; update++) {
    lefts.push(rest.left);
    time += 125;
  }
  assert.deepEqual(lefts, [800, 675, 550, 425, 300, 175, 50, 0]);
  rest.after(() => undefined);
  assert.equal(rest.left, 60);
});
