// Collects rows for a batch, with one growing array per column.
import { Float64Column, Int32Column, Uint8Column } from '../../base/columns.js';
import { getOrMake } from '../../base/lookUps.js';
import { FILE_TYPES } from '../../protocol/schemaTypes.js';
import { type Column, fileColumns, type RecordedTable } from '../../protocol/traceSchema.js';
import type { ArrowValues } from '../formats/arrow/arrowMessages.js';

interface ColumnBatch {
  push(value: unknown): void;
  values(): ArrowValues;
  clear(): void;
}

export class RowBatch {
  length = 0;
  readonly #names: readonly string[];
  readonly #columns: readonly ColumnBatch[];

  constructor(table: RecordedTable) {
    const columns = fileColumns(table);
    this.#names = columns.map(({ name }) => name);
    this.#columns = columns.map(columnBatch);
  }

  /** Adds a row. Missing values are absent. */
  add(row: object): void {
    for (let i = 0; i < this.#columns.length; i++) this.#columns[i]!.push(Reflect.get(row, this.#names[i]!));
    this.length++;
  }

  /** Returns the rows since `clear`. Valid until the next row. */
  values(): ArrowValues[] {
    return this.#columns.map((column) => column.values());
  }

  clear(): void {
    for (const column of this.#columns) column.clear();
    this.length = 0;
  }
}

function columnBatch({ kind }: Column): ColumnBatch {
  const type = FILE_TYPES[kind];
  switch (type) {
    case 'float64':
      return numbersBatch(new Float64Column(), Number.NaN, ({ values }) => ({ type, values }));
    case 'int64':
      return numbersBatch(new Float64Column(), -1, ({ values }) => ({ type, values }));
    case 'int32':
      return numbersBatch(new Int32Column(), -1, ({ values }) => ({ type, values }));
    case 'uint8':
      return numbersBatch(new Uint8Column(), 0, ({ values }) => ({ type, values }));
    case 'dictionary':
      return dictionaryBatch();
    case 'utf8':
      return listBatch(
        (value) => (typeof value === 'string' ? value : null),
        (values) => ({ type, values }),
      );
    case 'utf8-list':
      return listBatch(
        (value): readonly string[] => (Array.isArray(value) ? value : []),
        (values) => ({ type, values }),
      );
  }
}

function numbersBatch<C extends { length: number; push(value: number): void }>(
  column: C,
  absent: number,
  values: (column: C) => ArrowValues,
): ColumnBatch {
  return {
    push: (value) => column.push(typeof value === 'number' ? value : absent),
    values: () => values(column),
    clear: () => {
      column.length = 0;
    },
  };
}

function listBatch<T>(cell: (value: unknown) => T, values: (cells: T[]) => ArrowValues): ColumnBatch {
  const cells: T[] = [];
  return {
    push: (value) => cells.push(cell(value)),
    values: () => values(cells.slice()),
    clear: () => {
      cells.length = 0;
    },
  };
}

function dictionaryBatch(): ColumnBatch {
  const codes = new Int32Column();
  const texts = new BatchTexts();
  return {
    push: (value) => codes.push(typeof value === 'string' ? texts.codeOf(value) : -1),
    values: () => ({
      type: 'dictionary',
      values: codes.values,
      texts: texts.texts,
      generation: texts.generation,
    }),
    clear: () => {
      codes.length = 0;
      texts.nextBatch();
    },
  };
}

/** A computation whose edges are in a page, as in a live trace. */
export interface ComputationEdges {
  readonly firstId: number;
  readonly size: number;
  readonly slot: number;
  readonly page: { addDependencies(slot: number, to: Float64Column): void };
}

export class EdgeBatch {
  readonly #task = new Float64Column();
  readonly #dependency = new Float64Column();

  get length(): number {
    return this.#task.length;
  }

  /** Adds the edges of tasks from local id `from` on, until there are `rows` rows. Returns the next local id. */
  add({ firstId, size, page, slot }: ComputationEdges, from: number, rows: number): number {
    let id = from;
    for (; id < size && this.length < rows; id++) {
      page.addDependencies(slot + id, this.#dependency);
      while (this.#task.length < this.#dependency.length) this.#task.push(firstId + id);
    }
    return id;
  }

  values(): ArrowValues[] {
    return [
      { type: 'int64', values: this.#task.values },
      { type: 'int64', values: this.#dependency.values },
    ];
  }

  clear(): void {
    this.#task.length = 0;
    this.#dependency.length = 0;
  }
}

const MANY = 512;

/**
 * The dictionary of a column during recording: every distinct text has a code. Arrow rewrites a dictionary that grew, so a
 * large dictionary is replaced by an empty one after a batch.
 */
export class BatchTexts {
  texts: string[] = [];
  generation = 0;
  #codes = new Map<string, number>();

  codeOf(text: string): number {
    return getOrMake(this.#codes, text, () => this.texts.push(text) - 1);
  }

  /** Call this after a batch was written. Returns true if codes restart at 0. */
  nextBatch(): boolean {
    if (this.texts.length <= MANY) return false;
    this.texts = [];
    this.#codes = new Map();
    this.generation++;
    return true;
  }
}
