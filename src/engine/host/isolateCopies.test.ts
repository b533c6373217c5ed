import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IsolateCopies } from './isolateCopies.js';

test('copies: a result that many runs use leaves no entries after the runs are closed', () => {
  const copies = new IsolateCopies();
  copies.add(7, 0, 0);
  for (let run = 1; run <= 1000; run++) {
    copies.add(7, run, 1);
    copies.add(1000 + run, run, 2);
    if (run % 2 === 0) copies.forget(1000 + run);
    copies.closed(run);
  }
  assert.deepEqual([...copies.evict([7])], [[0, [0]]]);
  copies.closed(0);
  assert.equal(copies.size, 0);
});

test('copies: a result that is evicted from an open run is gathered again, and forgotten with the run', () => {
  const copies = new IsolateCopies();
  copies.add(7, 1, 0);
  copies.add(7, 2, 3);
  copies.closed(2);
  assert.deepEqual([...copies.evict([7])], [[1, [0]]]);
  copies.closed(1);
  assert.equal(copies.size, 0);
});
