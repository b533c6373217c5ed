// Rows of any table in memory: built row by row, joined from pieces, or made column by column. The schema defines the
// columns.

import { Float64Column, Int32Column, Uint8Column } from '../base/columns.js';
import { internalError } from '../base/errors.js';
import { once } from '../base/lookUps.js';
import { filledWith } from '../base/resized.js';
import { type ColumnKind, MEMORY_TYPES, type MemoryKind } from '../protocol/schemaTypes.js';
import {
  type Column,
  columnsOf,
  type Encoded,
  type RecordedTable,
  type Reported,
  type TableRows,
} from '../protocol/traceSchema.js';
import type { TextLists } from './formats/textColumns.js';
import type { StringTable } from './stringTable.js';

export type ColumnArray = Float64Array | Int32Array | Uint8Array;

export interface MemoryColumn extends Column {
  readonly kind: MemoryKind;
}

function inMemory(column: Column): column is MemoryColumn {
  return column.kind in MEMORY_TYPES;
}

export function memoryColumns(table: RecordedTable): readonly MemoryColumn[] {
  return columnsOf(table).filter(inMemory);
}

export function isColumn(values: unknown): values is ColumnArray {
  return values instanceof Float64Array || values instanceof Int32Array || values instanceof Uint8Array;
}

/** Returns the column of this name. Throws ERR_LONGPOLE_INTERNAL if the rows have none. */
export function arrayOf(rows: object, name: string): ColumnArray {
  const values: unknown = Reflect.get(rows, name);
  if (isColumn(values)) return values;
  throw internalError(`There is no column ${name}.`);
}

export function absentColumn(kind: MemoryKind, length: number): ColumnArray {
  switch (MEMORY_TYPES[kind]) {
    case 'float64':
      return new Float64Array(length).fill(absentValue(kind));
    case 'int32':
      return new Int32Array(length).fill(-1);
    case 'uint8':
      return new Uint8Array(length);
  }
}

/** Returns the number that marks an absent value. In columns of the kinds `choice` and `byte`, it is 0. */
function absentValue(kind: ColumnKind): number {
  if (kind === 'choice' || kind === 'byte') return 0;
  return kind === 'float' || kind === 'whole' || kind === 'count' ? Number.NaN : -1;
}

/**
 * Returns rows whose columns come from `make`. The lists of keys are made on first use, because they may require all
 * keys of the trace.
 */
export function rowsFrom<T extends RecordedTable>(
  table: T,
  length: number,
  make: (column: MemoryColumn) => ColumnArray,
  keys?: () => TextLists,
): TableRows<T>;
export function rowsFrom(
  table: RecordedTable,
  length: number,
  make: (column: MemoryColumn) => ColumnArray,
  keys: () => TextLists = () => ({ offsets: new Int32Array(length + 1), ids: new Int32Array(0) }),
): object {
  const rows = { length };
  const lists = once(keys);
  for (const column of memoryColumns(table)) {
    const { name, kind } = column;
    if (kind !== 'keys') Object.assign(rows, { [name]: make(column) });
    else {
      Object.defineProperty(rows, name, { enumerable: true, get: () => lists().ids });
      Object.defineProperty(rows, 'keyOffsets', { enumerable: true, get: () => lists().offsets });
    }
  }
  return rows;
}

export interface RowPiece<T extends RecordedTable> {
  readonly rows: TableRows<T>;
  readonly from: number;
  readonly to: number;
}

/** Concatenates pieces of a table. A single piece is not copied. */
export function joinRows<T extends Exclude<RecordedTable, 'transfers'>>(
  table: T,
  pieces: readonly RowPiece<T>[],
): TableRows<T> {
  const length = pieces.reduce((sum, { from, to }) => sum + to - from, 0);
  return rowsFrom(table, length, ({ name, kind }) => {
    const parts = pieces.map(({ rows, from, to }) => arrayOf(rows, name).subarray(from, to));
    return parts.length === 1 ? parts[0]! : filledWith<ColumnArray>(absentColumn(kind, length), parts);
  });
}

const KEYS = 'keys';

interface GrowingColumn {
  readonly name: string;
  readonly among: readonly string[] | undefined;
  readonly column: Float64Column | Int32Column | Uint8Column;
  readonly absent: number;
}

export class TableBuilder<T extends RecordedTable> {
  readonly #table: T;
  readonly #columns: readonly GrowingColumn[];
  /** Lists of keys, for tables that have them. */
  readonly #keys: { readonly offsets: Int32Column; readonly ids: Int32Column } | undefined;
  length = 0;

  constructor(table: T) {
    this.#table = table;
    const columns = memoryColumns(table);
    this.#columns = columns
      .filter(({ kind }) => kind !== 'keys')
      .map(({ name, kind, among }) => {
        return { name, among, column: growingColumn(kind), absent: absentValue(kind) };
      });
    if (!columns.some(({ kind }) => kind === 'keys')) return;
    this.#keys = { offsets: new Int32Column(), ids: new Int32Column() };
    this.#keys.offsets.push(0);
  }

  /**
   * Adds a row with ids for its texts, or a row as an engine reports it, whose texts are interned. Missing values are
   * absent.
   */
  add(row: Encoded<T>): void;
  add(row: Reported<T>, strings: StringTable, keys?: StringTable): void;
  add(row: Readonly<Record<string, unknown>>, strings?: StringTable, keys = strings): void {
    for (const { name, column, absent, among } of this.#columns) {
      const value = row[name];
      if (typeof value === 'number') column.push(value);
      else if (typeof value !== 'string' || strings === undefined) column.push(absent);
      else column.push(among === undefined ? strings.internString(value) : Math.max(0, among.indexOf(value)));
    }
    this.length++;
    if (this.#keys === undefined) return;
    const list = row[KEYS];
    if (Array.isArray(list) || list instanceof Int32Array)
      for (const key of list) this.#keys.ids.push(keys?.internString(String(key)) ?? key);
    this.#keys.offsets.push(this.#keys.ids.length);
  }

  /** Sets the values of `more` in an existing row. */
  describe(row: number, more: Partial<Encoded<T>>): void {
    for (const { name, column } of this.#columns) {
      const value: unknown = Reflect.get(more, name);
      if (typeof value === 'number') column.values[row] = value;
    }
  }

  /** Returns views of the rows so far. Later rows do not change them. */
  build(): TableRows<T> {
    const taken = new Map(this.#columns.map(({ name, column }) => [name, column.take()]));
    const keys = this.#keys;
    const lists = keys === undefined ? undefined : { offsets: keys.offsets.take(), ids: keys.ids.take() };
    const { length } = this;
    return rowsFrom(
      this.#table,
      length,
      ({ name, kind }) => taken.get(name) ?? absentColumn(kind, length),
      lists === undefined ? undefined : () => lists,
    );
  }
}

function growingColumn(kind: MemoryKind): Float64Column | Int32Column | Uint8Column {
  switch (MEMORY_TYPES[kind]) {
    case 'float64':
      return new Float64Column();
    case 'int32':
      return new Int32Column();
    case 'uint8':
      return new Uint8Column();
  }
}
