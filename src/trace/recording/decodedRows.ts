// Decodes the tables of a file to rows in memory, column by column, according to the column's kind.

import { columnsOf, type RecordedTable, type TableRows } from '../../protocol/traceSchema.js';
import type { ArrowStream } from '../formats/arrow/arrowDecoder.js';
import type { TextLists } from '../formats/textColumns.js';
import type { StringTable } from '../stringTable.js';
import { absentColumn, type ColumnArray, rowsFrom } from '../tableRows.js';
import type { TaskColumn } from '../taskColumns.js';

/** Objects that columns refer to. */
export interface DecodingContext {
  readonly strings: StringTable;
  /** Number of workers. A larger index of a worker, which only a damaged file has, becomes absent. */
  readonly workers: number;
  /** Returns the row of a frame by its id. Default: rows have no frames. */
  readonly frameRow?: (id: number) => number;
}

/** Returns the rows of a table. Columns that an earlier version did not write are absent. */
export function decodedRows<T extends RecordedTable>(
  table: T,
  stream: ArrowStream,
  context: DecodingContext,
  keys?: () => TextLists,
): TableRows<T> {
  return rowsFrom(table, stream.length, (column) => decodedColumn(stream, column, context), keys);
}

export function decodedColumn(
  stream: ArrowStream,
  { kind, title, derived, among }: TaskColumn,
  { strings, workers, frameRow = () => -1 }: DecodingContext,
): ColumnArray {
  const { length } = stream;
  const absent = (): ColumnArray => absentColumn(kind, length);
  if (derived === true) return absent();
  switch (kind) {
    case 'float':
    case 'whole':
      return stream.float64(title) ?? absent();
    case 'count':
      // Null is -1 in a column of integers.
      return Float64Array.from(stream.int32(title) ?? absent(), (value) => (value < 0 ? Number.NaN : value));
    case 'integer':
      return stream.int32(title) ?? new Int32Array(length);
    case 'byte':
      return stream.uint8(title) ?? new Uint8Array(length).fill(1);
    case 'worker':
      return indices(stream.int32(title), length, workers);
    case 'computation':
      return stream.int32(title) ?? absent();
    case 'task':
    case 'id':
      return stream.int64(title) ?? absent();
    case 'frame':
      return Int32Array.from(stream.int64(title) ?? absent(), frameRow);
    case 'choice':
      return listed(stream, title, strings, among ?? []);
    default:
      return stream.texts(title, strings) ?? absent();
  }
}

/** Interns all texts except keys, so that `strings` does not grow after a trace was opened. */
export function internTexts(table: RecordedTable, stream: ArrowStream, strings: StringTable): void {
  for (const { kind, title, among = [] } of columnsOf(table)) {
    for (const text of among) strings.internString(text);
    if (kind === 'name' || kind === 'choice') stream.dictionary(title, strings);
    else if (kind === 'text' && table !== 'computations') stream.texts(title, strings);
  }
}

/** Replaces indices of at least `count` by -1. */
function indices(column: Int32Array | undefined, length: number, count: number): Int32Array {
  if (column === undefined) return new Int32Array(length).fill(-1);
  for (let row = 0; row < column.length; row++) if (column[row]! >= count) column[row] = -1;
  return column;
}

/** Returns indices into `names`; an unknown name becomes 0. */
function listed(
  stream: ArrowStream,
  name: string,
  strings: StringTable,
  names: readonly string[],
): Uint8Array {
  const ids = stream.texts(name, strings);
  const column = new Uint8Array(stream.length);
  if (ids === undefined) return column;
  const places = new Map(names.map((text, place) => [strings.internString(text), place]));
  let [last, place] = [-1, 0];
  for (let row = 0; row < column.length; row++) {
    if (ids[row] !== last) {
      last = ids[row]!;
      place = places.get(last) ?? 0;
    }
    column[row] = place;
  }
  return column;
}
