// Writes tables of a trace as Parquet, one row group at a time, so that memory holds the cells of one group only.
import { ByteWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';
import type { PlainTable, TableColumn } from '../plainTables.js';

/** Rows of a row group, in the range that readers recommend. */
const GROUP = 100_000;
const TYPES = { text: 'STRING', float: 'DOUBLE', integer: 'INT64' } as const;

/** Yields the bytes of the file, one piece per row group. Absent cells are null. */
export function* parquetTable({ columns, length }: PlainTable): Generator<Uint8Array> {
  const writer = new ByteWriter();
  const schema = schemaFromColumnData({
    columnData: columns.map(({ title, type }) => ({ name: title, data: [], type: TYPES[type] })),
  });
  const parquet = new ParquetWriter({ writer, schema, createdBy: 'longpole' });
  for (let from = 0; from < length; from += GROUP) {
    const rows = Math.min(GROUP, length - from);
    parquet.write({
      columnData: columns.map((column) => ({ name: column.title, data: cellsOf(column, from, rows) })),
      rowGroupSize: rows,
    });
    yield taken(writer);
  }
  parquet.finish();
  yield taken(writer);
}

/** Returns the bytes written since the last call. */
function taken(writer: ByteWriter): Uint8Array {
  const bytes = writer.getBytes().slice();
  writer.index = 0;
  return bytes;
}

function cellsOf(column: TableColumn, from: number, rows: number): (string | number | bigint | null)[] {
  return Array.from({ length: rows }, (_, i) => {
    const cell = column.cell(from + i);
    if (cell === undefined) return null;
    if (column.type !== 'integer' || typeof cell !== 'number') return cell;
    // Only a damaged file has a size that is no safe integer. The size is written as null.
    return Number.isSafeInteger(Math.round(cell)) ? BigInt(Math.round(cell)) : null;
  });
}
