import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Batch, NO_IDS, NO_VALUES } from '../../protocol/isolateMessages.js';
import { BatchQueue } from './batchQueue.js';

let number = 0;

function batch(run: number, priority?: number, ids: readonly number[] = [1, 2, 3]): Batch {
  return {
    type: 'batch',
    run,
    batch: ++number,
    ids: Int32Array.from(ids),
    publish: new Uint8Array(ids.length),
    keep: NO_IDS,
    priority,
    inputs: { ids: Int32Array.of(9), values: ['input'] },
    constants: NO_VALUES,
    gather: [],
  };
}

/** Returns the runs in the order in which their batches run. */
function drain(queue: BatchQueue): number[] {
  const runs: number[] = [];
  for (let next = queue.next(); next !== undefined; next = queue.next()) runs.push(next.run);
  return runs;
}

test('batches of equal priority run in the order in which they arrived', () => {
  const queue = new BatchQueue();
  for (const run of [1, 2, 1, 3, 2]) queue.push(batch(run));
  assert.deepEqual(drain(queue), [1, 2, 1, 3, 2]);
});

test('of several runs, the one with the most urgent batch is next, and its batches keep their order', () => {
  const queue = new BatchQueue();
  const first = batch(1, 0);
  const second = batch(1, 5);
  for (const each of [batch(2, 3), first, batch(3, -1), second, batch(4)]) queue.push(each);
  assert.deepEqual([queue.next(), queue.next()], [first, second]);
  assert.deepEqual(drain(queue), [2, 4, 3]);
});

test('the rest of a batch waits for a more urgent run, not for one of the same priority or for its own run', () => {
  const queue = new BatchQueue();
  const running = batch(1, 1);
  queue.push(running);
  assert.equal(queue.next(), running);
  for (const other of [batch(2, 1), batch(3), batch(1, 4), batch(2, 4)]) queue.push(other);
  assert.equal(queue.isUrgent, false);
  queue.push(batch(5, 6));
  assert.equal(queue.isUrgent, true);
  queue.putBack(running, 1);
  assert.equal(queue.next()?.run, 5);
  assert.equal(queue.isUrgent, false);
  const rest = queue.next();
  assert.deepEqual([rest?.batch, rest?.ids, rest?.inputs], [running.batch, Int32Array.of(2, 3), NO_VALUES]);
  assert.deepEqual(drain(queue), [1, 2, 2, 3]);
});

test('a batch that cannot run yet goes back with its values', () => {
  const queue = new BatchQueue();
  const [early, late] = [batch(1), batch(2)];
  queue.push(early);
  queue.push(late);
  assert.equal(queue.next(), early);
  queue.putBack(early);
  assert.deepEqual([queue.length, queue.next(), queue.next(), queue.next()], [2, early, late, undefined]);
});

test('a batch whose values have been taken goes back without them, also before its first task', () => {
  const queue = new BatchQueue();
  const taken = batch(1);
  queue.push(taken);
  queue.next();
  queue.putBack(taken, 0);
  const rest = queue.next();
  assert.deepEqual([rest?.ids, rest?.inputs], [taken.ids, NO_VALUES]);
});
