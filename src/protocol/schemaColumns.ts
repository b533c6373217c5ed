// The columns of the tables of a trace, as lists.
import { getOrMake } from '../base/lookUps.js';
import type { ColumnSpec, TableSpec } from './schemaTypes.js';
import { type RecordedTable, TRACE_SCHEMA } from './traceSchema.js';

export interface Column extends ColumnSpec {
  /** Name in memory. */
  readonly name: string;
  /** Name in files and exports. */
  readonly title: string;
}

const known = new Map<RecordedTable, readonly Column[]>();

/** Returns the columns of a table, in order. */
export function columnsOf(table: RecordedTable): readonly Column[] {
  const columns: TableSpec['columns'] = TRACE_SCHEMA[table].columns;
  return getOrMake(known, table, () =>
    Object.entries(columns).map(([name, spec]) => ({ title: name, ...spec, name })),
  );
}

/** Returns the columns of a table in files, in order. */
export function fileColumns(table: RecordedTable): readonly Column[] {
  return columnsOf(table).filter(({ derived }) => derived !== true);
}

/** Returns whether traces of the first version may lack the table. */
export function appearedLater(table: RecordedTable): boolean {
  const { since = '1.0' }: TableSpec = TRACE_SCHEMA[table];
  return since !== '1.0';
}
