// Columns of tables from plain values, for results that have a row per prefix or worker and not per task.
import { StringTable } from '../trace/stringTable.js';
import type { Column } from './table.js';

/** A column of texts; null is absent. */
export function valuesColumn(title: string, texts: readonly (string | null)[]): Column {
  const strings = new StringTable();
  const ids = Int32Array.from(texts, (text) => (text === null ? -1 : strings.internString(text)));
  return { title, ids, strings };
}
