// Rows of one of the smaller tables until they are written as a batch: one growing array per column.

import { Float64Column, Int32Column, Uint8Column } from '../columns.js';
import { ArrowEncoder } from '../formats/arrowEncoder.js';
import type { ArrowCodec, ArrowField, ArrowType, ArrowValues } from '../formats/arrowTypes.js';
import { BatchTexts } from './batchTexts.js';
import { fieldsOf, type RECORDED_TABLES, type RecordedTable } from './traceTables.js';

type ValueOf<T extends ArrowType> = T extends 'utf8'
  ? string | null
  : T extends 'dictionary'
    ? string | null
    : T extends 'utf8-list'
      ? readonly string[]
      : number;

/** A row: texts and numbers as they are, -1 and null for what is absent. */
export type RecordedRow<T extends RecordedTable> = {
  readonly [C in keyof (typeof RECORDED_TABLES)[T]]: (typeof RECORDED_TABLES)[T][C] extends ArrowType
    ? ValueOf<(typeof RECORDED_TABLES)[T][C]>
    : never;
};

/** One column of one type. */
interface ColumnBatch {
  push(value: unknown): void;
  values(): ArrowValues;
  clear(): void;
}

export class RowBatch<T extends RecordedTable> {
  length = 0;
  readonly #names: readonly string[];
  readonly #columns: readonly ColumnBatch[];
  readonly #encoder: ArrowEncoder;

  constructor(table: T, codec: ArrowCodec | undefined, standalone: boolean) {
    const fields = fieldsOf(table);
    this.#names = fields.map(({ name }) => name);
    this.#columns = fields.map(columnBatch);
    this.#encoder = new ArrowEncoder(fields, codec, standalone);
  }

  add(row: RecordedRow<T>): void {
    for (let i = 0; i < this.#columns.length; i++) this.#columns[i]!.push(Reflect.get(row, this.#names[i]!));
    this.length++;
  }

  start(): Uint8Array[] {
    return this.#encoder.start();
  }

  end(): Uint8Array[] {
    return this.#encoder.end();
  }

  /** The bytes of the rows since the last call. */
  take(): Uint8Array[] {
    const parts = this.#encoder.batch(
      this.length,
      this.#columns.map((column) => column.values()),
    );
    for (const column of this.#columns) column.clear();
    this.length = 0;
    return parts;
  }
}

function columnBatch({ type }: ArrowField): ColumnBatch {
  switch (type) {
    case 'float64':
    case 'int64': {
      const column = new Float64Column();
      return {
        push: (value) => column.push(typeof value === 'number' ? value : type === 'int64' ? -1 : Number.NaN),
        values: () => ({ type, values: column.values }),
        clear: () => {
          column.length = 0;
        },
      };
    }
    case 'int32': {
      const column = new Int32Column();
      return {
        push: (value) => column.push(typeof value === 'number' ? value : -1),
        values: () => ({ type, values: column.values }),
        clear: () => {
          column.length = 0;
        },
      };
    }
    case 'uint8': {
      const column = new Uint8Column();
      return {
        push: (value) => column.push(typeof value === 'number' ? value : 0),
        values: () => ({ type, values: column.values }),
        clear: () => {
          column.length = 0;
        },
      };
    }
    case 'dictionary':
      return dictionaryBatch();
    case 'utf8': {
      const values: (string | null)[] = [];
      return {
        push: (value) => values.push(typeof value === 'string' ? value : null),
        values: () => ({ type, values: values.slice() }),
        clear: () => {
          values.length = 0;
        },
      };
    }
    case 'utf8-list': {
      const values: (readonly string[])[] = [];
      return {
        push: (value) => values.push(Array.isArray(value) ? value : []),
        values: () => ({ type, values: values.slice() }),
        clear: () => {
          values.length = 0;
        },
      };
    }
  }
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
