// Tables of a trace as text: CSV by RFC 4180 with line feeds, and JSON.
import type { PlainTable, TableCell } from '../plainTables.js';
import { TextPieces } from './json/jsonText.js';

/** A header and a line for each row; absent cells are empty. Numbers are written so that reading them gives the same. */
export function* csvTable({ columns, length }: PlainTable): Generator<string> {
  const pieces = new TextPieces();
  pieces.add(`${columns.map(({ title }) => csvText(title)).join(',')}\n`);
  for (let row = 0; row < length; row++) {
    pieces.add(`${columns.map((column) => csvCell(column.cell(row))).join(',')}\n`);
    if (pieces.full) yield pieces.take();
  }
  yield pieces.take();
}

/** One object: the name of each table → an array of rows, objects by title; absent cells are null. */
export function* jsonTables(tables: readonly PlainTable[]): Generator<string> {
  const pieces = new TextPieces();
  for (const [i, { name, columns, length }] of tables.entries()) {
    pieces.add(`${i === 0 ? '{' : ','}\n${JSON.stringify(name)}:[`);
    const titles = columns.map(({ title }) => JSON.stringify(title));
    for (let row = 0; row < length; row++) {
      const cells = columns.map((column, j) => `${titles[j]}:${jsonCell(column.cell(row))}`);
      pieces.add(`${row === 0 ? '' : ','}\n{${cells.join(',')}}`);
      if (pieces.full) yield pieces.take();
    }
    pieces.add(']');
  }
  pieces.add('\n}\n');
  yield pieces.take();
}

function csvCell(cell: TableCell): string {
  if (cell === undefined) return '';
  return typeof cell === 'number' ? String(cell) : csvText(cell);
}

/** Quotes where CSV needs them. An empty text is quoted, so that it is not an absent one. */
function csvText(text: string): string {
  return text === '' || /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function jsonCell(cell: TableCell): string {
  return cell === undefined ? 'null' : JSON.stringify(cell);
}
