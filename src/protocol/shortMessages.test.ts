import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CompletionColumns, completionColumns, MAX_DIMENSIONS } from './completionLog.js';
import { packFew, packFinished, unpackFinished } from './finishedTasks.js';
import type { Batch } from './isolateMessages.js';
import { CALL_BASE, OP_CALL, OP_CONSTANT, OP_NUMBER, OP_REF, type Program } from './program.js';
import { KIND_VALUE } from './resultKinds.js';
import { packBatch, packProgram, unpackBatch, unpackProgram } from './shortMessages.js';
import { packWorkerBatch, unpackWorkerBatch } from './shortWorkerMessages.js';

const batchOf = (ids: readonly number[]): Batch => ({
  type: 'batch',
  run: 3,
  batch: 7,
  ids: Int32Array.from(ids),
  publish: Uint8Array.from(ids, (id) => id % 2),
  keep: Int32Array.of(9),
  inputs: { ids: [4], values: ['four'] },
  constants: { ids: [0, 1], values: [[1], null] },
  gather: [],
});

/** Returns columns in which every number differs. */
function columnsOf(count: number): CompletionColumns {
  const columns = completionColumns(count);
  columns.count = count;
  let next = 1;
  const { count: _count, shapes, ...others } = columns;
  for (const column of Object.values(others)) for (let row = 0; row < count; row++) column[row] = next++;
  columns.kinds.fill(KIND_VALUE);
  columns.dimensions.fill(2);
  for (let row = 0; row < count; row++) shapes.set([next++, next++], MAX_DIMENSIONS * row);
  columns.seceded.fill(Number.NaN);
  return columns;
}

const ALONE: Program = {
  size: 1,
  tokenOffsets: Int32Array.of(0, 3),
  operations: Uint8Array.of(OP_CALL, OP_NUMBER, OP_CONSTANT),
  operands: Float64Array.of(2 * CALL_BASE, 0.5, 0),
  dependencyOffsets: Int32Array.of(0, 0),
  dependencies: Int32Array.of(),
  dependentCounts: Int32Array.of(0),
};
const PAIR: Program = {
  size: 2,
  tokenOffsets: Int32Array.of(0, 1, 3),
  operations: Uint8Array.of(OP_CALL, OP_CALL, OP_REF),
  operands: Float64Array.of(0, CALL_BASE + 1, 0),
  dependencyOffsets: Int32Array.of(0, 0, 1),
  dependencies: Int32Array.of(0),
  dependentCounts: Int32Array.of(1, 0),
};

test('the short form of a program with one task has the same program', () => {
  assert.ok(!('size' in packProgram(ALONE)));
  assert.deepEqual(unpackProgram(structuredClone(packProgram(ALONE))), ALONE);
  assert.equal(packProgram(PAIR), PAIR);
});

test('the short form of a batch for an isolate has its tasks and values, whatever their number', () => {
  for (const ids of [[5], [5, 6], Array.from({ length: 40 }, (_, id) => id)]) {
    const batch = batchOf(ids);
    const { publish: _publish, keep: _keep, ...rest } = unpackBatch(structuredClone(packBatch(batch)));
    const { publish: _flags, keep: _kept, ...expected } = batch;
    assert.deepEqual(JSON.parse(JSON.stringify(rest)), JSON.parse(JSON.stringify(expected)));
  }
});

test('the short form of a batch for a worker process has the whole batch, whatever its number of tasks', () => {
  for (const ids of [[5], [5, 6], Array.from({ length: 40 }, (_, id) => id)])
    assert.deepEqual(unpackWorkerBatch(structuredClone(packWorkerBatch(batchOf(ids), 3))), {
      ...batchOf(ids),
      isolate: 3,
    });
});

test('a few finished tasks have the same columns and values as many', () => {
  for (const count of [1, 3, 20]) {
    const columns = columnsOf(count);
    const arrived = new Map(Array.from(columns.ids, (id) => [id, `result ${id}`]));
    const long = packFinished(1, columns, arrived);
    for (const message of [long, packFew(long)]) {
      const unpacked = unpackFinished(structuredClone(message));
      assert.deepEqual(unpacked.arrived, arrived);
      for (const [name, column] of Object.entries(columns))
        assert.deepEqual(Reflect.get(unpacked.columns, name), column, name);
    }
  }
});
