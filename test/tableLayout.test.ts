import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Table } from 'longpole/analysis';
import { layoutTable } from '#internal/cli/tableLayout.js';
import { StringTable } from '#internal/trace/stringTable.js';

const strings = new StringTable();
const texts = (...list: string[]) => Int32Array.from(list, (text) => strings.internString(text));
const table = new Table([
  { title: 'Key', ids: texts('load-0123456789abcdef0123456789abcdef', 'sum\n1', 'x'), strings },
  { title: 'Duration of the task (s)', numbers: Float64Array.of(1 / 3, 2, Number.NaN) },
  { title: 'Count', numbers: Float64Array.of(1, 22, 333) },
]);

test('long titles are wrapped into several lines', () => {
  assert.equal(
    layoutTable(table, Number.POSITIVE_INFINITY, 2),
    [
      '                                       Duration',
      '                                         of the',
      'Key                                    task (s)  Count',
      'load-0123456789abcdef0123456789abcdef  0.333333      1',
      'sum 1                                         2     22',
      '… 1 more row',
    ].join('\n'),
  );
});

test('long texts are shortened in the middle', () => {
  const lines = layoutTable(table, 40, 3).split('\n');
  assert.ok(lines.every((line) => line.length <= 40));
  assert.match(lines[3] ?? '', /^load-\w+…\w+cdef {2}0\.333333 {6}1$/);
});

test('a table may have more rows than a function call may have arguments', () => {
  const long = new Table([{ title: 'Row', numbers: new Float64Array(300_000).fill(7) }]);
  const lines = layoutTable(long, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER).split('\n');
  assert.equal(lines.length, 300_001);
  assert.equal(lines.at(-1), '  7');
});

test('columns that do not fit are printed below, after the same texts', () => {
  const lines = layoutTable(table, 22, 3).split('\n');
  assert.equal(lines.filter((line) => line.startsWith('load-')).length, 2);
  assert.ok(
    lines.every((line) => line.length <= 22),
    lines.join('\n'),
  );
});
