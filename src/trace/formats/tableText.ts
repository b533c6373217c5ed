// Writes tables of a trace as CSV (RFC 4180, with line feeds) and as JSON.
import type { PlainTable, TableCell } from '../plainTables.js';

/** Yields a header and a line per row. Absent cells are empty. Numbers keep their exact value. */
export function* csvTable({ columns, length }: PlainTable): Generator<string> {
  yield `${columns.map(({ title }) => csvText(title)).join(',')}\n`;
  for (let row = 0; row < length; row++) {
    yield `${columns.map((column) => csvCell(column.cell(row))).join(',')}\n`;
  }
}

/** Yields an object with an array of rows for each table name. Rows are objects by title; absent cells are null. */
export function* jsonTables(tables: readonly PlainTable[]): Generator<string> {
  for (const [i, { name, columns, length }] of tables.entries()) {
    yield `${i === 0 ? '{' : ','}\n${JSON.stringify(name)}:[`;
    const titles = columns.map(({ title }) => JSON.stringify(title));
    for (let row = 0; row < length; row++) {
      const cells = columns.map((column, j) => `${titles[j]}:${jsonCell(column.cell(row))}`);
      yield `${row === 0 ? '' : ','}\n{${cells.join(',')}}`;
    }
    yield ']';
  }
  yield '\n}\n';
}

function csvCell(cell: TableCell): string {
  if (cell === undefined) return '';
  return typeof cell === 'number' ? String(cell) : csvText(cell);
}

/** Quotes a text if necessary. An empty text is quoted, because an absent cell is empty. */
function csvText(text: string): string {
  return text === '' || /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function jsonCell(cell: TableCell): string {
  return cell === undefined ? 'null' : JSON.stringify(cell);
}
