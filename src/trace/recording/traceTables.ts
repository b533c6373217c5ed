// The tables of a trace directory as Arrow fields. docs/trace-format.md explains them. Raise FORMAT_VERSION for a
// change that an older Longpole could misread; a new column is no such change.

import { FILE_TYPES } from '../../protocol/schemaTypes.js';
import { fileColumns, type RecordedTable } from '../../protocol/traceSchema.js';
import type { ArrowField } from '../formats/arrow/arrowTypes.js';

export const FORMAT_VERSION = 1;

export function fieldsOf(table: RecordedTable): ArrowField[] {
  return fileColumns(table).map(({ title, kind }) => ({ name: title, type: FILE_TYPES[kind] }));
}
