// Writes the metadata of Arrow IPC messages, which `arrowMessages` reads. apache-arrow could write it, but its classes
// take as long to load as a hundred modules, in every program that records or writes a table.
import { type ArrowField, type ArrowType, DOUBLE, HEADER, LZ4_FRAME, TYPE } from './arrowMessages.js';
import { type FlatField, type FlatFields, flatBuffer } from './flatWriter.js';

/**
 * Columns of a batch. `nodes` has rows and nulls by column, where the columns inside a list follow the list. `buffers`
 * has offset and size by buffer.
 */
export interface BatchParts {
  readonly rows: number;
  readonly nodes: readonly number[];
  readonly buffers: readonly number[];
  readonly compressed: boolean;
  /** Size of the body in bytes. */
  readonly size: number;
}

/** Arrow's number for the format version since 1.0. */
const VERSION_5 = 4;

const uint8 = (value: number): FlatField => ({ type: 'uint8', value });
const size = (value: number): FlatField => ({ type: 'size', value });
const table = (...value: FlatFields): FlatField => ({ type: 'table', value });
const tables = (value: readonly FlatFields[]): FlatField => ({ type: 'tables', value });
const pairs = (value: readonly number[]): FlatField => ({ type: 'pairs', value });

/** Describes a schema. The id of a dictionary is the index of its field. */
export function describeSchema(fields: readonly ArrowField[]): Uint8Array {
  const described = fields.map(({ name, type }, id) => fieldOf(name, type, id));
  return message(HEADER.schema, table(undefined, tables(described)), 0);
}

export function describeBatch(parts: BatchParts): Uint8Array {
  return message(HEADER.batch, batchOf(parts), parts.size);
}

/** Describes a complete dictionary, which replaces the previous one. */
export function describeDictionary(id: number, parts: BatchParts): Uint8Array {
  return message(HEADER.dictionary, table(size(id), batchOf(parts)), parts.size);
}

function message(kind: number, header: FlatField, bodySize: number): Uint8Array {
  return flatBuffer([{ type: 'int16', value: VERSION_5 }, uint8(kind), header, size(bodySize)]);
}

function batchOf({ rows, nodes, buffers, compressed }: BatchParts): FlatField {
  const compression = compressed ? table(uint8(LZ4_FRAME)) : undefined;
  return table(size(rows), pairs(nodes), pairs(buffers), compression);
}

/** Other readers require the list of children, even if it is empty. */
function fieldOf(name: string, type: ArrowType, id: number): FlatFields {
  const { number, facts, dictionary, child } = typeOf(type, id);
  return [
    { type: 'text', value: name },
    uint8(1),
    uint8(number),
    table(...facts),
    dictionary,
    tables(child === undefined ? [] : [child]),
  ];
}

interface DescribedType {
  readonly number: number;
  readonly facts: FlatFields;
  readonly dictionary?: FlatField;
  readonly child?: FlatFields;
}

function typeOf(type: ArrowType, id: number): DescribedType {
  switch (type) {
    case 'float64':
      return { number: TYPE.float, facts: [{ type: 'int16', value: DOUBLE }] };
    case 'int64':
      return { number: TYPE.int, facts: intOf(64, true) };
    case 'int32':
      return { number: TYPE.int, facts: intOf(32, true) };
    case 'uint8':
      return { number: TYPE.int, facts: intOf(8, false) };
    case 'utf8':
      return { number: TYPE.utf8, facts: [] };
    case 'dictionary':
      return { number: TYPE.utf8, facts: [], dictionary: table(size(id), table(...intOf(32, true))) };
    case 'utf8-list':
      return { number: TYPE.list, facts: [], child: fieldOf('item', 'utf8', id) };
  }
}

function intOf(bits: number, signed: boolean): FlatFields {
  return [{ type: 'int32', value: bits }, uint8(signed ? 1 : 0)];
}
