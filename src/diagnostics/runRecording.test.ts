import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TaskTable } from './runRecording.js';

/** Returns a batch in arrays that are longer than the batch, because an engine reuses its arrays. */
function batch(worker: number, ids: readonly number[], start: number, spare = 2) {
  const pad = <T extends Int32Array | Float64Array>(array: T, values: readonly number[]): T => {
    array.fill(-1);
    array.set(values);
    return array;
  };
  const length = ids.length + spare;
  return {
    worker,
    count: ids.length,
    ids: pad(new Int32Array(length), ids),
    started: pad(
      new Float64Array(length),
      ids.map((_, i) => start + i),
    ),
    stopped: pad(
      new Float64Array(length),
      ids.map((_, i) => start + i + 0.5),
    ),
  };
}

describe('TaskTable', () => {
  it('copies the first rows of each batch', () => {
    const table = new TaskTable(3);
    const reused = batch(0, [4, 2], 10);
    table.append(reused);
    reused.ids.fill(9);
    table.append(batch(1, [7], 5, 0));
    assert.equal(table.length, 3);
    assert.deepEqual([...table.ids.subarray(0, 3)], [4, 2, 7]);
    assert.deepEqual([...table.startTimes.subarray(0, 3)], [10, 11, 5]);
    assert.deepEqual([...table.stopTimes.subarray(0, 3)], [10.5, 11.5, 5.5]);
    assert.deepEqual([...table.workers.subarray(0, 3)], [0, 0, 1]);
  });

  it('grows beyond the expected size', () => {
    const table = new TaskTable(0);
    for (let i = 0; i < 100; i++) table.append(batch(i % 3, [i, i, i], i * 10));
    assert.equal(table.length, 300);
    assert.equal(table.ids[299], 99);
    assert.equal(table.workers[3], 1);
    assert.equal(table.startTimes[299], 992);
  });

  it('orders rows by start time, and equal times by row', () => {
    const table = new TaskTable(8);
    table.append(batch(0, [0, 1], 10));
    table.append(batch(1, [2, 3], 9));
    table.append(batch(2, [4], 11));
    assert.deepEqual([...table.rowsByStart(0)], [2, 0, 3, 1, 4]);
    assert.deepEqual([...table.rowsByStart(3)], [3, 4]);
    assert.deepEqual([...table.rowsByStart(5)], []);
  });
});
