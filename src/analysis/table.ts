// The result of an analysis as rows and columns. Cells are made when they are read, so a table of all tasks needs no
// memory per row before that.
import { checkNoMore, checkOptions, NUMBER, type OptionKinds } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { inPieces } from '../base/pieces.js';
import { Printed } from '../base/printed.js';
import { joinedBytes } from '../base/resized.js';
import { sortedOrder } from '../base/sortedOrder.js';
import { cellText, visibleName } from '../base/visibleText.js';
import { integerText } from '../base/words.js';
import { ArrowEncoder } from '../trace/formats/arrow/arrowEncoder.js';
import { StringTable, type Texts } from '../trace/stringTable.js';

/** Null is an absent value. */
export type Cell = string | number | null;

/** One row by column titles. */
export type Row = Readonly<Record<string, Cell>>;

/**
 * A column of numbers (NaN if absent), or of texts as ids of `strings` (-1 if absent). A function computes a value from
 * the row, which saves memory in tables of millions of rows. At least one column is an array.
 */
export type Column =
  | { readonly title: string; readonly numbers: Values<Float64Array>; readonly float?: boolean }
  | { readonly title: string; readonly ids: Values<Int32Array>; readonly strings: Texts };

type Values<T> = T | ((row: number) => number);

export interface TableOptions {
  /** Rows of the columns that the table shows, in order. Default: all rows. */
  readonly order?: Int32Array;
  /**
   * Numbers of the rows, for CSV as pandas writes it: with these numbers as the first column, and with whole numbers in
   * columns marked `float` written as `1.0`.
   */
  readonly pandasIndex?: Int32Array;
}

export interface ToStringOptions {
  /** Largest number of printed rows. Default 60. */
  readonly maxRows?: number;
}

const TO_STRING_OPTIONS: OptionKinds<ToStringOptions> = { maxRows: NUMBER };

export class Table extends Printed {
  /** Column titles in order. */
  readonly columns: readonly string[];
  readonly length: number;
  readonly #columns: readonly Column[];
  readonly #order: Int32Array;
  readonly #pandasIndex: Int32Array | undefined;
  #rows: readonly Row[] | undefined;

  constructor(columns: readonly Column[], options: TableOptions = {}) {
    super();
    this.#columns = columns;
    this.columns = columns.map(({ title }) => title);
    this.#order = options.order ?? allRows(columns);
    this.length = this.#order.length;
    this.#pandasIndex = options.pandasIndex;
  }

  /** All rows, made at first use. */
  get rows(): readonly Row[] {
    this.#rows ??= [...this.eachRow()];
    return this.#rows;
  }

  /** Yields the rows without keeping them, for tables that are too large for `rows`. */
  *eachRow(): Generator<Row> {
    this.#makeStrings();
    for (const at of this.#order) {
      const row: Record<string, Cell> = {};
      for (const column of this.#columns) row[column.title] = cellOf(column, at);
      yield row;
    }
  }

  /** Returns a cell; null beyond the last row. Throws ERR_LONGPOLE_INVALID_ARGUMENT if there is no such column. */
  cell(row: number, title: string): Cell {
    const at = this.#order[row];
    const column = this.#column(title);
    return at === undefined ? null : cellOf(column, at);
  }

  /** Returns the first `n` rows, like `head` of pandas. Default 5. */
  head(n = 5): Table {
    return this.#with(this.#order.subarray(0, Math.max(0, n)));
  }

  /**
   * Returns the rows sorted by one column, by default in ascending order. Equal cells keep their order; absent cells
   * are last. Throws ERR_LONGPOLE_INVALID_ARGUMENT if there is no such column.
   */
  sort(title: string, direction: 'ascending' | 'descending' = 'ascending'): Table {
    const column = this.#column(title);
    const descending = direction === 'descending';
    const ranks =
      'numbers' in column
        ? Float64Array.from(this.#order, (row) => numberAt(column.numbers, row))
        : textRanks(Array.from(this.#order, (row) => cellOf(column, row)));
    return this.#with(sortedOrder(ranks, descending).map((i) => this.#order[i]!));
  }

  /**
   * Returns CSV by RFC 4180 with `\n` at the end of lines. Absent cells are empty. Numbers keep their full precision. A
   * string has at most 536 million characters, some 5 million rows of tasks. For larger tables Node throws a
   * RangeError; use `csvPieces` instead.
   */
  toCSV(): string;
  toCSV(...more: readonly unknown[]): string {
    checkNoMore('Table.toCSV', more, 'It returns the text. Write it to a file with fs.writeFileSync.');
    let text = '';
    for (const piece of this.csvPieces()) text += piece;
    return text;
  }

  /** Yields the text of `toCSV` in pieces of whole lines, for tables of any length. */
  csvPieces(): Generator<string> {
    return inPieces(this.#csvLines());
  }

  *#csvLines(): Generator<string> {
    this.#makeStrings();
    const index = this.#pandasIndex;
    yield `${(index === undefined ? this.columns : ['', ...this.columns]).map(quoted).join(',')}\n`;
    for (const row of this.#order) {
      const cells = this.#columns.map((column) => csvCell(column, row, index !== undefined));
      if (index !== undefined) cells.unshift(String(index[row]));
      yield `${cells.join(',')}\n`;
    }
  }

  /**
   * Returns aligned text with at most `maxRows` rows and numbers of at most six digits. Control characters become
   * visible signs, and texts of more than 300 characters lose their middle. `rows` and `toCSV` have the full text.
   */
  override toString(options: ToStringOptions = {}): string {
    checkOptions('Table.toString', options, TO_STRING_OPTIONS);
    const { maxRows = 60 } = options;
    const shown = this.#order.subarray(0, Math.max(0, maxRows));
    const texts = this.#columns.map((column) => {
      const cells = [visibleName(column.title), ...Array.from(shown, (row) => cellText(cellOf(column, row)))];
      const width = cells.reduce((most, { length }) => Math.max(most, length), 0);
      return cells.map((cell) => ('numbers' in column ? cell.padStart(width) : cell.padEnd(width)));
    });
    const lines = Array.from({ length: shown.length + 1 }, (_, line) =>
      texts
        .map((cells) => cells[line])
        .join('  ')
        .trimEnd(),
    );
    if (shown.length < this.length) lines.push(`… ${integerText(this.length - shown.length)} more rows`);
    return lines.join('\n');
  }

  /**
   * Returns the table as an Arrow IPC stream for pyarrow, pandas, polars, DuckDB or apache-arrow: numbers as float64
   * (NaN if absent), texts as utf8 (null if absent).
   */
  toArrow(): Uint8Array;
  toArrow(...more: readonly unknown[]): Uint8Array {
    checkNoMore('Table.toArrow', more, 'It returns the bytes. Write them to a file with fs.writeFileSync.');
    this.#makeStrings();
    const encoder = new ArrowEncoder(
      this.#columns.map((column) => ({
        name: column.title,
        type: 'numbers' in column ? 'float64' : 'utf8',
      })),
    );
    const order = this.#order;
    const values = this.#columns.map((column) =>
      'numbers' in column
        ? ({
            type: 'float64',
            values: Float64Array.from(order, (row) => numberAt(column.numbers, row)),
          } as const)
        : ({ type: 'utf8', values: Array.from(order, (row) => textOf(column, row)) } as const),
    );
    return joinedBytes([...encoder.start(), ...encoder.batch(this.length, values), ...encoder.end()]);
  }

  /** Decodes all strings at once if most of them are needed. */
  #makeStrings(): void {
    for (const column of this.#columns) {
      if ('ids' in column && this.length * 2 > column.strings.length) column.strings.decodeAll();
    }
  }

  #column(title: string): Column {
    const column = this.#columns.find((one) => one.title === title);
    if (column !== undefined) return column;
    throw invalidArgument(`The table has no column '${title}'. Its columns are: ${this.columns.join(', ')}.`);
  }

  #with(order: Int32Array): Table {
    return new Table(this.#columns, {
      order,
      ...(this.#pandasIndex === undefined ? {} : { pandasIndex: this.#pandasIndex }),
    });
  }
}

function allRows(columns: readonly Column[]): Int32Array {
  const arrays = columns.map((column) => ('numbers' in column ? column.numbers : column.ids));
  const rows = new Int32Array(arrays.find((values) => typeof values !== 'function')?.length ?? 0);
  for (let row = 0; row < rows.length; row++) rows[row] = row;
  return rows;
}

function numberAt(values: Values<Float64Array | Int32Array>, row: number): number {
  return typeof values === 'function' ? values(row) : values[row]!;
}

function cellOf(column: Column, row: number): Cell {
  if (!('numbers' in column)) return textOf(column, row);
  const value = numberAt(column.numbers, row);
  return Number.isNaN(value) ? null : value;
}

function textOf(column: { ids: Values<Int32Array>; strings: Texts }, row: number): string | null {
  const id = numberAt(column.ids, row);
  return id < 0 ? null : column.strings.get(id);
}

/** Returns numbers in the same order as the texts by code units; NaN for null. */
function textRanks(cells: readonly Cell[]): Float64Array {
  const distinct = [...new Set(cells.filter((cell) => cell !== null))].sort();
  const ranks = new Map<Cell, number>(distinct.map((cell, rank) => [cell, rank]));
  return Float64Array.from(cells, (cell) => ranks.get(cell) ?? Number.NaN);
}

function csvCell(column: Column, row: number, pandas: boolean): string {
  const cell = cellOf(column, row);
  if (cell === null) return '';
  if (typeof cell === 'string') return quoted(cell);
  return pandas && 'numbers' in column && column.float === true ? pythonFloat(cell) : String(cell);
}

function quoted(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns a number as Python's `repr` writes it: the shortest exact text, with exponents and `.0` as in Python. */
export function pythonFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    const [digits, exponent] = value.toExponential().split('e');
    const power = Number(exponent);
    return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
  }
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return text.includes('.') ? text : `${text}.0`;
}

/** Returns a table with the largest of these numbers first. Absent numbers are last. */
export function descendingTable(by: Float64Array, columns: readonly Column[]): Table {
  return new Table(columns, { order: sortedOrder(by, true) });
}

/** Returns a column of numbers, one for each row below `length`. */
export function numberColumn(title: string, length: number, value: (row: number) => number) {
  return { title, numbers: Float64Array.from({ length }, (_, row) => value(row)) };
}

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
    numbers: (title: string, value: (row: R) => number) =>
      numberColumn(title, rows.length, (row) => value(rows[row]!)),
  };
}
