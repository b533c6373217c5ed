import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PrefixTable } from './prefixTable.js';

test('prefixes: a prefix in use keeps its number; prefixes that are used once do not grow the table', () => {
  const table = new PrefixTable();
  const { numbers } = table.of(['inc-1', 'inc-2', 'sum-1']);
  assert.deepEqual([...numbers], [0, 0, 1]);
  for (let i = 0; i < 30_000; i++) {
    const { numbers, names, prefixOf } = table.of([`job${i}`, 'inc-3', `job${i}`]);
    assert.equal(numbers[1], 0);
    assert.equal(numbers[0], numbers[2]);
    assert.deepEqual(
      [names, [...prefixOf]],
      [
        [`job${i}`, 'inc'],
        [0, 1, 0],
      ],
    );
  }
  assert.ok(table.size <= 10_001, String(table.size));
  const { numbers: two } = table.of(['sum-2', 'inc-4']);
  assert.notEqual(two[0], two[1]);
});
