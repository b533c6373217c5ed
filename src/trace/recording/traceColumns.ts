// Converts the columns of a trace to the form that an Arrow encoder takes, according to the column's kind.

import { once } from '../../base/lookUps.js';
import { FILE_TYPES } from '../../protocol/schemaTypes.js';
import { type Column, fileColumns, type RecordedTable } from '../../protocol/traceSchema.js';
import type { ArrowValues } from '../formats/arrow/arrowMessages.js';
import type { Texts } from '../stringTable.js';
import { arrayOf } from '../tableRows.js';
import type { Trace, TraceComputation } from '../trace.js';

/** Returns rows `[from .. to)` of a column. */
type ColumnSource = (from: number, to: number) => ArrowValues;

export interface TableSource {
  readonly rows: number;
  /** Columns in the order of `fieldsOf`. */
  readonly columns: readonly ColumnSource[];
}

export interface SourceOptions {
  /** Whether every batch has its own dictionaries. Otherwise a table has one growing dictionary per column. */
  readonly standalone: boolean;
  /**
   * Whether frames keep their ids, which are equal for all recorders. Otherwise their rows replace the ids, which needs
   * fewer bits.
   */
  readonly ownFrameIds: boolean;
}

/**
 * Returns the columns of a table. A trace without computations gets one, which contains all keys. The ids of keys then
 * replace the ids of tasks, which may have gaps of any size.
 */
export function tableSource(trace: Trace, table: RecordedTable, options: SourceOptions): TableSource {
  const rows = rowsOf(trace, table);
  return {
    rows: rows.length,
    columns: fileColumns(table).map((column) => columnSource(trace, rows, column, options)),
  };
}

interface Rows {
  readonly length: number;
}

function rowsOf(trace: Trace, table: RecordedTable): Rows {
  if (table === 'computations') return computationRows(computationsOf(trace));
  return table === 'dependencies' ? edgeRows(trace) : trace[table];
}

type ComputationFacts = Pick<
  TraceComputation,
  'number' | 'firstId' | 'size' | 'start' | 'prepared' | 'client' | 'code'
>;

function hasIds({ computations, tasks }: Trace): boolean {
  return computations.length > 0 || tasks.length === 0;
}

function computationsOf(trace: Trace): readonly ComputationFacts[] {
  if (hasIds(trace)) return trace.computations;
  return [{ number: 1, firstId: 0, size: trace.keys.length, start: Number.NaN, client: '', code: '' }];
}

function computationRows(list: readonly ComputationFacts[]): Rows {
  const rows = {
    length: list.length,
    number: Int32Array.from(list, ({ number }) => number),
    first_id: Float64Array.from(list, ({ firstId }) => firstId),
    size: Int32Array.from(list, ({ size }) => size),
    submitted: Float64Array.from(list, ({ start }) => start),
    client: list.map(({ client }) => client),
    code: list.map(({ code }) => code),
    prepared: Float64Array.from(list, ({ prepared = Number.NaN }) => prepared),
  };
  return rows;
}

/**
 * Returns the edges of each task once, even if the task ran several times. The id of a dependency is known even if the
 * trace lacks its run.
 */
function edgeRows(trace: Trace): Rows {
  const { tasks } = trace;
  const { key, dependencyOffsets } = tasks;
  const own = hasIds(trace);
  const ids: ArrayLike<number> = own ? tasks.id : key;
  const { dependencyRows } = tasks;
  const absent = once((): ArrayLike<number> => (own ? tasks.dependencyIds : tasks.dependencies));
  const seen = new Set<number>();
  const rows: number[] = [];
  let length = 0;
  for (let row = 0; row < tasks.length; row++) {
    const edges = dependencyOffsets[row + 1]! - dependencyOffsets[row]!;
    if (edges === 0 || seen.size === seen.add(ids[row]!).size) continue;
    rows.push(row);
    length += edges;
  }
  const task = new Float64Array(length);
  const dependency = new Float64Array(length);
  let at = 0;
  for (const row of rows) {
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++, at++) {
      task[at] = ids[row]!;
      const made = dependencyRows[edge]!;
      // Most dependencies have a row; the column of all ids is expensive.
      dependency[at] = made < 0 ? absent()[edge]! : ids[made]!;
    }
  }
  const edges = { length, task, dependency };
  return edges;
}

function columnSource(trace: Trace, rows: Rows, column: Column, options: SourceOptions): ColumnSource {
  const { strings, keys, tasks, frames, resources } = trace;
  const { name, title, kind, among = [] } = column;
  switch (kind) {
    case 'name':
      return words(integers(rows, name), strings, options.standalone);
    case 'group':
      return words(integers(rows, name), keys, options.standalone);
    case 'text':
      return textSource(rows, name, strings);
    case 'key':
      return texts((row) => tasks.keyOf(row));
    case 'choice':
      return chosen(arrayOf(rows, name), among);
    case 'keys':
      return keyLists(trace);
    case 'figures':
      return texts(otherFigures(trace));
    case 'figure':
      return numbers(
        'float64',
        resources.figures.get(title) ?? new Float64Array(rows.length).fill(Number.NaN),
      );
    case 'index':
      return numbers(
        'int32',
        Int32Array.from({ length: rows.length }, (_, row) => row),
      );
    case 'frame':
      return numbers('int64', frameIds(arrayOf(rows, name), frames, options));
    case 'id':
      if (rows === frames && !options.ownFrameIds)
        return numbers(
          'int64',
          Float64Array.from({ length: rows.length }, (_, row) => row),
        );
      return numbers('int64', arrayOf(rows, name));
    case 'task':
      return numbers('int64', taskIds(trace, rows, name));
    case 'computation':
      return numbers('int32', computationNumbers(trace));
    default:
      return numbers(FILE_TYPES[kind], arrayOf(rows, name));
  }
}

/** Returns a source of numbers in the file's type. In an `int32` column, a negative number or NaN becomes -1. */
function numbers(type: 'float64' | 'int64' | 'int32' | 'uint8', values: ArrayLike<number>): ColumnSource {
  switch (type) {
    case 'float64':
    case 'int64': {
      const column = values instanceof Float64Array ? values : Float64Array.from(values);
      return (from, to) => ({ type, values: column.subarray(from, to) });
    }
    case 'int32': {
      const column =
        values instanceof Int32Array ? values : Int32Array.from(values, (value) => (value >= 0 ? value : -1));
      return (from, to) => ({ type, values: column.subarray(from, to) });
    }
    case 'uint8': {
      const column = values instanceof Uint8Array ? values : Uint8Array.from(values);
      return (from, to) => ({ type, values: column.subarray(from, to) });
    }
  }
}

function integers(rows: object, name: string): Int32Array {
  const values = arrayOf(rows, name);
  return values instanceof Int32Array ? values : Int32Array.from(values);
}

function frameIds(rows: ArrayLike<number>, { id }: Trace['frames'], options: SourceOptions): Float64Array {
  return Float64Array.from(rows, (row) => (row < 0 || !options.ownFrameIds ? row : id[row]!));
}

function taskIds(trace: Trace, rows: Rows, name: string): ArrayLike<number> {
  const { tasks } = trace;
  const ids = arrayOf(rows, name);
  // Edges already have the right ids.
  if (hasIds(trace) || ids.length === 0 || !('worker' in rows)) return ids;
  if (rows === tasks) return tasks.key;
  const keyOf = new Map(Array.from(tasks.id, (one, row) => [one, tasks.key[row]!]));
  return Float64Array.from(ids, (one) => keyOf.get(one) ?? -1);
}

function computationNumbers(trace: Trace): Int32Array {
  const list = computationsOf(trace);
  const only = hasIds(trace) ? -1 : 1;
  return trace.tasks.computation.map((index) => list[index]?.number ?? only);
}

function texts(text: (row: number) => string | null): ColumnSource {
  return (from, to) => ({
    type: 'utf8',
    values: Array.from({ length: to - from }, (_, i) => text(from + i)),
  });
}

/** Returns texts by id. Computations hold texts instead of ids. */
function textSource(rows: Rows, name: string, strings: Texts): ColumnSource {
  const values: unknown = Reflect.get(rows, name);
  if (Array.isArray(values)) return texts((row) => String(values[row]));
  const ids = arrayOf(rows, name);
  return texts((row) => (ids[row]! < 0 ? null : strings.get(ids[row]!)));
}

function chosen(values: ArrayLike<number>, among: readonly string[]): ColumnSource {
  const codes = Int32Array.from(values);
  return (from, to) => ({
    type: 'dictionary',
    values: codes.subarray(from, to),
    texts: among,
    generation: 0,
  });
}

function keyLists({ transfers, keys }: Trace): ColumnSource {
  const offsets = once(() => transfers.keyOffsets);
  const keysOf = (row: number): string[] =>
    Array.from(transfers.keys.subarray(offsets()[row]!, offsets()[row + 1]!), (id) => keys.get(id));
  return (from, to) => ({
    type: 'utf8-list',
    values: Array.from({ length: to - from }, (_, i) => keysOf(from + i)),
  });
}

/** Returns the figures without a column as a JSON object. */
function otherFigures({ resources }: Trace): (row: number) => string | null {
  // Figures of DASF have any name, also that of another column, e.g. `time`.
  const columns = fileColumns('resources').filter(({ kind }) => kind === 'figure');
  const others = [...resources.figures].filter(([name]) => !columns.some(({ title }) => title === name));
  return (row) => {
    const there = others.filter(([, values]) => !Number.isNaN(values[row]!));
    if (there.length === 0) return null;
    return JSON.stringify(Object.fromEntries(there.map(([name, values]) => [name, values[row]!])));
  };
}

/** Returns a dictionary column; texts have codes in the order of first use. */
function words(ids: Int32Array, strings: Texts, standalone: boolean): ColumnSource {
  let codes = new Map<number, number>();
  let list: string[] = [];
  let generation = 0;
  return (from, to) => {
    if (standalone) {
      codes = new Map();
      list = [];
      generation++;
    }
    const values = new Int32Array(to - from);
    let [last, code] = [-1, -1];
    for (let row = from; row < to; row++) {
      const id = ids[row]!;
      if (id !== last) {
        last = id;
        code = id < 0 ? -1 : (codes.get(id) ?? -1);
        if (id >= 0 && code < 0) {
          code = list.push(strings.get(id)) - 1;
          codes.set(id, code);
        }
      }
      values[row - from] = code;
    }
    return { type: 'dictionary', values, texts: list, generation };
  };
}
