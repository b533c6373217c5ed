// The result of an analysis as rows and columns. Cells are made when they are asked for: a table of all tasks costs
// nothing per row until somebody reads it.
import { LongpoleError } from '../base/errors.js';
import { sortedOrder } from '../base/sortedOrder.js';
import type { StringTable } from '../trace/stringTable.js';
import { pythonFloat } from './pythonFloat.js';

/** Null is an absent value. */
export type Cell = string | number | null;

/** One row by column titles. */
export type Row = Readonly<Record<string, Cell>>;

/** A column of numbers, NaN for absent, or of strings, ids of `strings`, -1 for absent. */
export type Column =
  | { readonly title: string; readonly numbers: Float64Array; readonly float?: boolean }
  | { readonly title: string; readonly ids: Int32Array; readonly strings: StringTable };

export interface TableOptions {
  /** Which rows of the columns the table shows, in which order. Default: all, as they are. */
  readonly order?: Int32Array;
  /**
   * Writes CSV as pandas does: a first column with these numbers (by rows of the columns), and whole numbers of columns
   * marked `float` as `1.0`.
   */
  readonly pandasIndex?: Int32Array;
}

export interface ToStringOptions {
  /** Rows beyond it are counted, not printed. Default 60. */
  readonly maxRows?: number;
}

export class Table {
  /** Titles in order. */
  readonly columns: readonly string[];
  readonly length: number;
  readonly #columns: readonly Column[];
  readonly #order: Int32Array;
  readonly #pandasIndex: Int32Array | undefined;
  #rows: readonly Row[] | undefined;

  constructor(columns: readonly Column[], options: TableOptions = {}) {
    this.#columns = columns;
    this.columns = columns.map(({ title }) => title);
    const rows = columns[0] === undefined ? 0 : sizeOf(columns[0]);
    this.#order = options.order ?? Int32Array.from({ length: rows }, (_, row) => row);
    this.length = this.#order.length;
    this.#pandasIndex = options.pandasIndex;
  }

  /** All rows, made at the first use. */
  get rows(): readonly Row[] {
    if (this.#rows === undefined) {
      this.#makeStrings();
      this.#rows = Array.from(this.#order, (at) => {
        const row: Record<string, Cell> = {};
        for (const column of this.#columns) row[column.title] = cellOf(column, at);
        return row;
      });
    }
    return this.#rows;
  }

  /** The cell of a column in the table's row `row`. Throws ERR_LONGPOLE_INVALID_ARGUMENT if there is no such column. */
  cell(row: number, title: string): Cell {
    const at = this.#order[row];
    const column = this.#column(title);
    return at === undefined ? null : cellOf(column, at);
  }

  /** The first `n` rows, as pandas' `head`; default 5. */
  head(n = 5): Table {
    return this.#with(this.#order.subarray(0, Math.max(0, n)));
  }

  /**
   * The same rows by one column; equal cells keep their order, absent ones come last. Default ascending.
   * Throws ERR_LONGPOLE_INVALID_ARGUMENT if there is no such column.
   */
  sort(title: string, direction: 'ascending' | 'descending' = 'ascending'): Table {
    const column = this.#column(title);
    const descending = direction === 'descending';
    const ranks =
      'numbers' in column
        ? Float64Array.from(this.#order, (row) => column.numbers[row]!)
        : textRanks(Array.from(this.#order, (row) => cellOf(column, row)));
    return this.#with(sortedOrder(ranks, descending).map((i) => this.#order[i]!));
  }

  /** RFC 4180 with `\n`; absent cells are empty. Numbers are written so that reading them gives the same number. */
  toCSV(): string {
    this.#makeStrings();
    const index = this.#pandasIndex;
    const lines = [(index === undefined ? this.columns : ['', ...this.columns]).map(quoted).join(',')];
    for (const row of this.#order) {
      const cells = this.#columns.map((column) => csvCell(column, row, index !== undefined));
      if (index !== undefined) cells.unshift(String(index[row]));
      lines.push(cells.join(','));
    }
    return `${lines.join('\n')}\n`;
  }

  /** Aligned text, numbers with at most six digits. Of long tables the first `maxRows` rows. */
  toString({ maxRows = 60 }: ToStringOptions = {}): string {
    const shown = this.#order.subarray(0, Math.max(0, maxRows));
    const texts = this.#columns.map((column) => {
      const cells = [column.title, ...Array.from(shown, (row) => printed(cellOf(column, row)))];
      const width = Math.max(...cells.map((cell) => cell.length));
      return cells.map((cell) => ('numbers' in column ? cell.padStart(width) : cell.padEnd(width)));
    });
    const lines = Array.from({ length: shown.length + 1 }, (_, line) =>
      texts
        .map((cells) => cells[line])
        .join('  ')
        .trimEnd(),
    );
    if (shown.length < this.length)
      lines.push(`… ${(this.length - shown.length).toLocaleString('en')} more rows`);
    return lines.join('\n');
  }

  /** All strings at once, where most of them will be asked for. */
  #makeStrings(): void {
    for (const column of this.#columns) {
      if ('ids' in column && this.length * 2 > column.strings.length) column.strings.decodeAll();
    }
  }

  #column(title: string): Column {
    const column = this.#columns.find((one) => one.title === title);
    if (column !== undefined) return column;
    throw new LongpoleError(
      'ERR_LONGPOLE_INVALID_ARGUMENT',
      `The table has no column '${title}'. Its columns are: ${this.columns.join(', ')}.`,
    );
  }

  #with(order: Int32Array): Table {
    return new Table(this.#columns, {
      order,
      ...(this.#pandasIndex === undefined ? {} : { pandasIndex: this.#pandasIndex }),
    });
  }
}

function sizeOf(column: Column): number {
  return 'numbers' in column ? column.numbers.length : column.ids.length;
}

function cellOf(column: Column, row: number): Cell {
  if ('numbers' in column) {
    const value = column.numbers[row]!;
    return Number.isNaN(value) ? null : value;
  }
  const id = column.ids[row]!;
  return id < 0 ? null : column.strings.get(id);
}

/** Numbers that sort as the texts do by code units; NaN for null. */
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

function printed(cell: Cell): string {
  if (cell === null) return '';
  return typeof cell === 'string' || Number.isInteger(cell)
    ? String(cell)
    : String(Number(cell.toPrecision(6)));
}
