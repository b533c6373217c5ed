import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { tableFromIPC } from 'apache-arrow';
import { StringTable } from '../trace/stringTable.js';
import { pythonFloat, Table } from './table.js';

const strings = new StringTable();
const ids = (...texts: (string | null)[]): Int32Array =>
  Int32Array.from(texts, (text) => (text === null ? -1 : strings.internString(text)));

const table = new Table([
  { title: 'Key', ids: ids('b', "('a', 0)", null, 'say "x"'), strings },
  { title: 'Seconds', numbers: Float64Array.of(2, 0.1234567, Number.NaN, 2) },
]);

describe('Table', () => {
  it('has titles, a length and rows; absent values are null', () => {
    assert.deepEqual(table.columns, ['Key', 'Seconds']);
    assert.equal(table.length, 4);
    assert.deepEqual(table.rows.slice(1, 3), [
      { Key: "('a', 0)", Seconds: 0.1234567 },
      { Key: null, Seconds: null },
    ]);
    assert.equal(table.cell(0, 'Key'), 'b');
  });

  it('is an Arrow stream with the rows in its order', () => {
    const arrow = tableFromIPC(table.sort('Seconds').toArrow());
    assert.deepEqual(
      arrow.schema.fields.map(({ name }) => name),
      ['Key', 'Seconds'],
    );
    assert.deepEqual([...(arrow.getChild('Key') ?? [])], ["('a', 0)", 'b', 'say "x"', null]);
    assert.deepEqual([...(arrow.getChild('Seconds') ?? [])], [0.1234567, 2, 2, Number.NaN]);
    assert.equal(tableFromIPC(table.head(0).toArrow()).numRows, 0);
  });

  it('sorts by numbers and by texts, stably and with absent values last', () => {
    const keys = (sorted: Table): unknown => sorted.rows.map(({ Key }) => Key);
    assert.deepEqual(keys(table.sort('Seconds')), ["('a', 0)", 'b', 'say "x"', null]);
    assert.deepEqual(keys(table.sort('Seconds', 'descending')), ['b', 'say "x"', "('a', 0)", null]);
    assert.deepEqual(keys(table.sort('Key')), ["('a', 0)", 'b', 'say "x"', null]);
    assert.deepEqual(keys(table.sort('Key', 'descending')), ['say "x"', 'b', "('a', 0)", null]);
    assert.throws(() => table.sort('Minutes'), { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' });
  });

  it('has a head that is a table', () => {
    assert.deepEqual(table.head(1).rows, [{ Key: 'b', Seconds: 2 }]);
    assert.equal(table.head().length, 4);
    assert.equal(table.head(-1).length, 0);
  });

  it('writes CSV with the necessary quotes', () => {
    assert.equal(table.toCSV(), 'Key,Seconds\nb,2\n"(\'a\', 0)",0.1234567\n,\n"say ""x""",2\n');
  });

  it('gives rows and CSV of any length in pieces', () => {
    const long = new Table([
      { title: 'Row', numbers: Float64Array.from({ length: 100_000 }, (_, row) => row) },
      { title: 'Key', ids: new Int32Array(100_000).fill(strings.internString('say "x"')), strings },
    ]);
    const pieces = [...long.csvPieces()];
    assert.equal(pieces.join(''), long.toCSV());
    assert.ok(pieces.every((piece) => piece.length < 100_000 && piece.endsWith('\n')));
    assert.deepEqual([...table.eachRow()], table.rows);
  });

  it('writes CSV as pandas does', () => {
    const columns = [{ title: 'x', numbers: Float64Array.of(1, 1e-5), float: true }];
    const like = new Table(columns, { order: Int32Array.of(1, 0), pandasIndex: Int32Array.of(0, 1) });
    assert.equal(like.toCSV(), ',x\n1,1e-05\n0,1.0\n');
  });

  it('prints aligned columns, and counts the rows that it leaves out', () => {
    assert.equal(
      table.toString({ maxRows: 2 }),
      ['Key        Seconds', 'b                2', "('a', 0)  0.123457", '… 2 more rows'].join('\n'),
    );
    assert.equal(new Table([]).toString(), '');
    const long = new Table([{ title: 'Row', numbers: new Float64Array(300_000) }]);
    assert.equal(long.toString({ maxRows: 300_000 }).split('\n').length, 300_001);
  });
});

for (const [value, text] of [
  [0, '0.0'],
  [-0, '-0.0'],
  [3, '3.0'],
  [0.1, '0.1'],
  [1e-4, '0.0001'],
  [4.8e-5, '4.8e-05'],
  [-1.5e-10, '-1.5e-10'],
  [1e15, '1000000000000000.0'],
  [1e16, '1e+16'],
  [1.25e100, '1.25e+100'],
  [Number.NaN, 'nan'],
  [-Infinity, '-inf'],
] as const) {
  test(`Python writes ${value} as ${text}`, () => assert.equal(pythonFloat(value), text));
}
