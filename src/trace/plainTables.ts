// The tables of a trace with plain cells, for CSV, JSON and Parquet. Titles are the column names of the trace
// directory; names replace ids.

import { once } from '../base/lookUps.js';
import type { RecordedTable } from '../protocol/traceSchema.js';
import type { Texts } from './stringTable.js';
import { arrayOf, type ColumnArray, type MemoryColumn, memoryColumns } from './tableRows.js';
import type { Trace } from './trace.js';

/** Value of a cell; undefined if absent. */
export type TableCell = string | number | undefined;

export interface TableColumn {
  readonly title: string;
  readonly type: 'text' | 'float' | 'integer';
  cell(row: number): TableCell;
}

export interface PlainTable {
  readonly name: string;
  readonly length: number;
  readonly columns: readonly TableColumn[];
}

/** Returns all tables, including those without rows, so that the set of tables never varies. */
export function plainTables(trace: Trace): PlainTable[] {
  return [
    plainTable(trace, 'tasks'),
    dependencyTable(trace),
    plainTable(trace, 'workers'),
    computationTable(trace),
    plainTable(trace, 'intervals'),
    plainTable(trace, 'transfers'),
    plainTable(trace, 'memory'),
    resourceTable(trace),
    plainTable(trace, 'metrics'),
    plainTable(trace, 'frames'),
    plainTable(trace, 'samples'),
    plainTable(trace, 'events'),
  ];
}

function plainTable(trace: Trace, name: Exclude<RecordedTable, 'computations' | 'dependencies'>): PlainTable {
  const rows = trace[name];
  const columns = memoryColumns(name).map((column) => plainColumn(trace, rows, column));
  return { name, length: rows.length, columns };
}

function plainColumn(
  trace: Trace,
  rows: object,
  { name, title, kind, among = [] }: MemoryColumn,
): TableColumn {
  const { strings, keys, tasks, transfers, computations } = trace;
  // Lazy, because reading a column of keys decodes all keys.
  const values = once(() => arrayOf(rows, name));
  switch (kind) {
    case 'float':
      return column(title, 'float', (row) => known(values()[row]));
    case 'id':
      return column(title, 'integer', (row) => row);
    case 'computation':
      return column(title, 'integer', (row) => computations[values()[row]!]?.number);
    case 'worker':
      return worker(trace, title, values());
    case 'choice':
      return texts(title, (row) => among[values()[row]!]);
    case 'name':
    case 'text':
      return stringsOf(title, values(), strings);
    case 'key':
      return texts(title, (row) => tasks.keyOf(row));
    case 'group':
      return stringsOf(title, values(), keys);
    case 'keys':
      // One cell holds the keys of a row as a JSON array.
      return texts(title, (row) => {
        const ids = transfers.keys.subarray(transfers.keyOffsets[row]!, transfers.keyOffsets[row + 1]!);
        return JSON.stringify(Array.from(ids, (id) => keys.get(id)));
      });
    default:
      return column(title, 'integer', (row) => (values()[row] === -1 ? undefined : known(values()[row])));
  }
}

/**
 * Returns one row per edge. `task` and `dependency` are task ids; `dependency` is absent if the trace does not hold
 * that task.
 */
function dependencyTable({ tasks, keys }: Trace): PlainTable {
  const { dependencies, dependencyOffsets, dependencyRows, id } = tasks;
  const rowOf = new Int32Array(dependencies.length);
  for (let row = 0; row < tasks.length; row++) {
    rowOf.fill(row, dependencyOffsets[row]!, dependencyOffsets[row + 1]!);
  }
  return {
    name: 'dependencies',
    length: dependencies.length,
    columns: [
      column('task', 'integer', (edge) => id[rowOf[edge]!]),
      column('dependency', 'integer', (edge) =>
        dependencyRows[edge]! < 0 ? undefined : id[dependencyRows[edge]!],
      ),
      texts('key', (edge) => tasks.keyOf(rowOf[edge]!)),
      stringsOf('dependency_key', dependencies, keys),
    ],
  };
}

function computationTable({ computations }: Trace): PlainTable {
  return {
    name: 'computations',
    length: computations.length,
    columns: [
      column('number', 'integer', (row) => computations[row]?.number),
      column('first_id', 'integer', (row) => computations[row]?.firstId),
      column('size', 'integer', (row) => computations[row]?.size),
      column('submitted', 'float', (row) => known(computations[row]?.start)),
      column('prepared', 'float', (row) => known(computations[row]?.prepared)),
      column('stopped', 'float', (row) => known(computations[row]?.stop)),
      texts('client', (row) => computations[row]?.client),
      texts('code', (row) => computations[row]?.code),
    ],
  };
}

function resourceTable(trace: Trace): PlainTable {
  const { columns: own, ...table } = plainTable(trace, 'resources');
  const taken = new Set(own.map(({ title }) => title));
  // The samples of DASF have a figure `time`, which would collide with the column `time`.
  const figures = Array.from(trace.resources.figures, ([title, values]) =>
    column(taken.has(title) ? `figure.${title}` : title, 'float', (row) => known(values[row])),
  );
  return { ...table, columns: [...own, ...figures] };
}

function column(title: string, type: TableColumn['type'], cell: (row: number) => TableCell): TableColumn {
  return { title, type, cell };
}

function texts(title: string, cell: (row: number) => string | undefined): TableColumn {
  return column(title, 'text', cell);
}

function stringsOf(title: string, ids: ColumnArray, strings: Texts): TableColumn {
  return texts(title, (row) => (ids[row]! < 0 ? undefined : strings.get(ids[row]!)));
}

function worker({ workers, strings }: Trace, title: string, rows: ColumnArray): TableColumn {
  return texts(title, (row) => {
    const name = rows[row]! < 0 ? -1 : workers.name[rows[row]!]!;
    return name < 0 ? undefined : strings.get(name);
  });
}

function known(value: number | undefined): number | undefined {
  return value === undefined || Number.isNaN(value) ? undefined : value;
}
