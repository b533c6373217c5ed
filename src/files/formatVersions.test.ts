// Files of earlier versions open with the same cells. test/fixtures/version-1/README.md describes the files.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { plainTables, type TableCell } from '../trace/plainTables.js';
import { openTrace } from './openTrace.js';

const FOLDER = new URL('../../test/fixtures/version-1/', import.meta.url);

/** Number of known cells of a column, and the sum of its numbers or a checksum of its texts. */
type Summary = readonly [known: number, sum: number];
type Expected = Readonly<Record<string, { rows: number; columns: Readonly<Record<string, Summary>> }>>;

const expected: Readonly<Record<string, Expected>> = JSON.parse(
  readFileSync(new URL('expected.json', FOLDER), 'utf8'),
);

function textSum(text: TableCell): number {
  let sum = 7;
  for (const letter of String(text)) sum = (Math.imul(sum, 31) + letter.codePointAt(0)!) | 0;
  return sum;
}

function summaryOf(cells: readonly TableCell[]): Summary {
  const known = cells.filter((cell) => cell !== undefined);
  const numbers = known.filter((cell) => typeof cell === 'number');
  if (numbers.length === known.length) return [known.length, numbers.reduce((sum, one) => sum + one, 0)];
  return [known.length, known.reduce<number>((sum, text) => (Math.imul(sum, 31) + textSum(text)) | 0, 7)];
}

describe('files of format version 1', () => {
  for (const [file, tables] of Object.entries(expected)) {
    it(`${file} opens with all its cells`, () => {
      const trace = openTrace(new URL(file, FOLDER).pathname);
      assert.equal(trace.damage, undefined);
      for (const table of plainTables(trace)) {
        const known = tables[table.name];
        assert.equal(table.length, known?.rows, table.name);
        for (const [title, summary] of Object.entries(known?.columns ?? {})) {
          const column = table.columns.find((one) => one.title === title);
          assert.ok(column !== undefined, `${table.name}.${title} is missing`);
          const cells = Array.from({ length: table.length }, (_, row) => column.cell(row));
          assert.deepEqual(summaryOf(cells), summary, `${table.name}.${title}`);
        }
      }
    });
  }
});
