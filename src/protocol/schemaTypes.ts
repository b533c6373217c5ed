// Kinds of columns in a trace's tables. A kind defines the array in memory, the value that an engine reports, and the
// type in files. traceSchema.ts lists the columns.

/**
 * - `float`: a number; NaN is absent.
 * - `whole`: a whole number; NaN is absent.
 * - `count`: like `whole`, with 32 bits in files.
 * - `integer`, `byte`: whole numbers of 32 and 8 bits.
 * - `worker`: a row of `workers`.
 * - `task`: the id of a task.
 * - `id`: the id of the row itself.
 * - `computation`: the number of a computation in files, its index in memory.
 * - `frame`: the id of a frame in files, its row in memory.
 * - `choice`: one of `among`.
 * - `name`: a text with few distinct values.
 * - `text`: any text.
 * - `key`, `group`: texts of the table of keys.
 * - `keys`: several keys.
 */
export const MEMORY_TYPES = {
  float: 'float64',
  whole: 'float64',
  count: 'float64',
  integer: 'int32',
  byte: 'uint8',
  worker: 'int32',
  task: 'float64',
  id: 'float64',
  computation: 'int32',
  frame: 'int32',
  choice: 'uint8',
  name: 'int32',
  text: 'int32',
  key: 'int32',
  group: 'int32',
  keys: 'int32',
} as const;

/**
 * Kinds of columns that memory stores elsewhere.
 *
 * - `index`: the number of the row.
 * - `figure`: a number among the figures of a resource sample.
 * - `figures`: the figures without a column, as a JSON object.
 */
type FileKind = 'index' | 'figure' | 'figures';
export type MemoryKind = keyof typeof MEMORY_TYPES;
export type ColumnKind = MemoryKind | FileKind;

interface Arrays {
  readonly float64: Float64Array;
  readonly int32: Int32Array;
  readonly uint8: Uint8Array;
}

/** The types of columns in files; `utf8-list` has several texts a row. */
export const FILE_TYPES = {
  float: 'float64',
  whole: 'float64',
  count: 'int32',
  integer: 'int32',
  byte: 'uint8',
  worker: 'int32',
  task: 'int64',
  id: 'int64',
  computation: 'int32',
  frame: 'int64',
  choice: 'dictionary',
  name: 'dictionary',
  text: 'utf8',
  key: 'utf8',
  group: 'dictionary',
  keys: 'utf8-list',
  index: 'int32',
  figure: 'float64',
  figures: 'utf8',
} as const satisfies Readonly<Record<ColumnKind, string>>;

export interface ColumnSpec {
  readonly kind: ColumnKind;
  /** Description in one sentence. */
  readonly doc: string;
  readonly unit?: 'time' | 'seconds' | 'bytes' | 'percent' | 'bytes per second' | 'tasks' | undefined;
  /** Name in files and exports. Default: the name in memory. */
  readonly title?: string;
  /** Meaning of an absent value. Default: unknown. */
  readonly absent?: string;
  /** The texts of a `choice`, in the order of their numbers. */
  readonly among?: readonly string[];
  /** An engine may omit the value: it is absent then. */
  readonly optional?: true;
  /** The value follows from other columns, or comes only from foreign formats. The column is not in files. */
  readonly derived?: true;
  /** Format version in which the column appeared. Default: that of its table. */
  readonly since?: FormatVersion;
}

/**
 * Format versions. The whole number is `version` in meta.json. A version that only adds tables or columns raises the
 * number behind the point.
 */
type FormatVersion = '1.0' | '1.1' | '1.2' | '1.3';

export interface TableSpec {
  /** Meaning of a row. */
  readonly row: string;
  /** Format version in which the table appeared. Default: 1.0. */
  readonly since?: FormatVersion;
  readonly columns: Readonly<Record<string, ColumnSpec>>;
}

type Columns = TableSpec['columns'];

/** The columns of a table in memory. */
export type RowsOf<C extends Columns> = { readonly length: number } & {
  readonly [N in keyof C as C[N]['kind'] extends FileKind ? never : N]: C[N]['kind'] extends MemoryKind
    ? Arrays[(typeof MEMORY_TYPES)[C[N]['kind']]]
    : never;
  // Keys of row `i`: `keys[keyOffsets[i] .. keyOffsets[i + 1])`.
} & ('keys' extends keyof C ? { readonly keyOffsets: Int32Array } : unknown);

/** Names of the columns with one of these marks. */
type Marked<C extends Columns, M> = { [N in keyof C]: C[N] extends M ? N : never }[keyof C];
type Optional = { readonly optional: true };
type Derived = { readonly derived: true };

type ReportedValue<C extends ColumnSpec> = C extends { readonly among: readonly (infer N)[] }
  ? N
  : C['kind'] extends 'name' | 'text' | 'key' | 'group'
    ? string
    : C['kind'] extends 'keys'
      ? readonly string[]
      : number;

/** A row as an engine reports it, with texts. */
export type ReportedRow<C extends Columns> = {
  readonly [N in Exclude<keyof C, Marked<C, Optional | Derived>>]: ReportedValue<C[N]>;
} & {
  readonly [N in Marked<C, Optional>]?: ReportedValue<C[N]>;
};

type EncodedValue<C extends ColumnSpec> = C['kind'] extends 'keys' ? readonly number[] | Int32Array : number;

/** A row with ids for all texts. An omitted value is absent. */
export type EncodedRow<C extends Columns> = {
  readonly [N in Exclude<keyof C, Marked<C, Optional | Derived | { readonly kind: FileKind }>>]: EncodedValue<
    C[N]
  >;
} & {
  readonly [N in Marked<C, Optional | Derived>]?: EncodedValue<C[N]>;
};
