import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainTables } from './plainTables.js';
import { syntheticTrace } from './syntheticTrace.test.support.js';

test('the computation of a task is the number of a row of computations', () => {
  const trace = syntheticTrace({
    tasks: [
      { key: 'a', started: 0, stopped: 1, computation: 1 },
      { key: 'b', started: 1, stopped: 2, computation: 2 },
    ],
  });
  const tables = plainTables(trace);
  const cells = (table: string, title: string) => {
    const { columns, length } = tables.find(({ name }) => name === table) ?? assert.fail();
    const { cell } = columns.find((column) => column.title === title) ?? assert.fail();
    return Array.from({ length }, (_, row) => cell(row));
  };
  assert.deepEqual(cells('tasks', 'computation'), [1, 2]);
  assert.deepEqual(cells('computations', 'number'), [1, 2]);
});
