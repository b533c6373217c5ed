// Makes columns from plain values, for tables with few rows.
import { StringTable } from '../trace/stringTable.js';
import type { Column } from './table.js';

/** Returns a column of texts; null is an absent cell. */
export function valuesColumn(title: string, texts: readonly (string | null)[]): Column {
  const strings = new StringTable();
  const ids = Int32Array.from(texts, (text) => (text === null ? -1 : strings.internString(text)));
  return { title, ids, strings };
}

/** Returns functions that make columns with a value per row. */
export function rowColumns<R>(rows: readonly R[]) {
  return {
    texts: (title: string, value: (row: R) => string | null) => valuesColumn(title, rows.map(value)),
    numbers: (title: string, value: (row: R) => number) => ({
      title,
      numbers: Float64Array.from(rows, value),
    }),
  };
}
