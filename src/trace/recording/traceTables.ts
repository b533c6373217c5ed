// The tables of a trace directory as Arrow fields. docs/trace-format.md explains them; a change that an older Longpole could
// misread raises FORMAT_VERSION, a new column does not.
import { FILE_TYPES } from '../../protocol/schemaTypes.js';
import { fileColumns, type RecordedTable } from '../../protocol/traceSchema.js';
import type { ArrowField } from '../formats/arrow/arrowTypes.js';

export const FORMAT_VERSION = 1;

/** The columns of a table, in order. */
export function fieldsOf(table: RecordedTable): ArrowField[] {
  return fileColumns(table).map(({ title, kind }) => ({ name: title, type: FILE_TYPES[kind] }));
}
