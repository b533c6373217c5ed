// The tables of a trace as rows and columns of plain cells, for formats that know no more than that: CSV, JSON, Parquet.
// Titles are those of the trace directory's columns; ids are replaced by what they stand for.
import { ACTIONS, TASK_STATES } from '../protocol/clusterObserver.js';
import type { Texts } from './texts.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace } from './trace.js';

/** Undefined is an absent value. */
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

/** All tables, those without rows included, so that whoever reads them finds the same ones every time. */
export function plainTables(trace: Trace): PlainTable[] {
  return [
    taskTable(trace),
    dependencyTable(trace),
    workerTable(trace),
    computationTable(trace),
    intervalTable(trace),
    transferTable(trace),
    memoryTable(trace),
    resourceTable(trace),
    metricTable(trace),
    frameTable(trace),
    sampleTable(trace),
    eventTable(trace),
  ];
}

function taskTable(trace: Trace): PlainTable {
  const { tasks, strings, keys } = trace;
  const names = [
    ['prefix', strings],
    ['group', keys],
    ['functionName', strings, 'function'],
    ['recordedName', strings, 'recorded_name'],
    ['span', strings],
  ] as const;
  const lifecycle = [
    'submitted',
    'ready',
    'dispatched',
    'received',
    'started',
    'stopped',
    'acknowledged',
    'duration',
  ] as const;
  return {
    name: 'tasks',
    length: tasks.length,
    columns: [
      integers('id', tasks.id),
      texts('key', (row) => tasks.keyOf(row)),
      ...names.map(([name, table, title = name]) => stringsOf(title, tasks[name], table)),
      integers('computation', tasks.computation),
      worker(trace, 'worker', tasks.worker),
      stringsOf('host', tasks.host, strings),
      integers('thread', tasks.thread),
      stringsOf('device', tasks.device, strings),
      choices('state', tasks.state, TASK_STATES),
      integers('attempt', tasks.attempt),
      ...lifecycle.map((title) => floats(title, tasks[title])),
      integers('nbytes', tasks.nbytes),
      stringsOf('result_type', tasks.resultType, strings),
      stringsOf('dtype', tasks.dtype, strings),
      stringsOf('shape', tasks.shape, strings),
    ],
  };
}

/** One row per edge; `task` and `dependency` are ids of tasks, the latter absent where the trace does not hold the task. */
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

function workerTable({ workers, strings }: Trace): PlainTable {
  return {
    name: 'workers',
    length: workers.length,
    columns: [
      stringsOf('name', workers.name, strings),
      stringsOf('address', workers.address, strings),
      stringsOf('host', workers.host, strings),
      integers('pid', workers.pid),
      integers('threads', workers.threads),
      integers('memory_limit', workers.memoryLimit),
      floats('started', workers.started),
      floats('stopped', workers.stopped),
      stringsOf('reason', workers.reason, strings),
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
      column('stopped', 'float', (row) => known(computations[row]?.stop)),
      texts('client', (row) => computations[row]?.client),
      texts('code', (row) => computations[row]?.code),
    ],
  };
}

function intervalTable(trace: Trace): PlainTable {
  const { intervals } = trace;
  return {
    name: 'intervals',
    length: intervals.length,
    columns: [
      worker(trace, 'worker', intervals.worker),
      integers('thread', intervals.thread),
      choices('action', intervals.action, ACTIONS),
      floats('start', intervals.start),
      floats('stop', intervals.stop),
      integers('task', intervals.task),
      integers('nbytes', intervals.nbytes),
    ],
  };
}

/** The keys of a row stand in one cell, as a JSON array. */
function transferTable(trace: Trace): PlainTable {
  const { transfers, keys } = trace;
  const keysOf = (row: number): string => {
    const ids = transfers.keys.subarray(transfers.keyOffsets[row]!, transfers.keyOffsets[row + 1]!);
    return JSON.stringify(Array.from(ids, (id) => keys.get(id)));
  };
  return {
    name: 'transfers',
    length: transfers.length,
    columns: [
      worker(trace, 'worker', transfers.worker),
      worker(trace, 'peer', transfers.peer),
      choices('direction', transfers.direction, DIRECTIONS),
      choices('what', transfers.what, TRANSFER_KINDS),
      integers('nbytes', transfers.nbytes),
      integers('compressed', transfers.compressed),
      floats('start', transfers.start),
      floats('stop', transfers.stop),
      texts('keys', keysOf),
    ],
  };
}

function memoryTable(trace: Trace): PlainTable {
  const { memory, strings } = trace;
  const figures = ['managed', 'unmanaged', 'spilled', 'process', 'tasks'] as const;
  return {
    name: 'memory',
    length: memory.length,
    columns: [
      floats('time', memory.time),
      worker(trace, 'worker', memory.worker),
      stringsOf('host', memory.host, strings),
      ...figures.map((title) => integers(title, memory[title])),
    ],
  };
}

function resourceTable(trace: Trace): PlainTable {
  const { resources, strings } = trace;
  const own = [
    floats('time', resources.time),
    worker(trace, 'worker', resources.worker),
    stringsOf('host', resources.host, strings),
    stringsOf('device', resources.device, strings),
    floats('gpu_utilization', resources.gpuUtilization),
    floats('gpu_memory_used', resources.gpuMemoryUsed),
  ];
  const taken = new Set(own.map(({ title }) => title));
  // DASF's samples have a figure `time`: their own clock. Two columns of one title could not be told apart.
  const figures = Array.from(resources.figures, ([title, values]) =>
    floats(taken.has(title) ? `figure.${title}` : title, values),
  );
  return { name: 'resources', length: resources.length, columns: [...own, ...figures] };
}

function metricTable(trace: Trace): PlainTable {
  const { metrics, strings } = trace;
  const labels = ['context', 'span', 'prefix', 'activity', 'unit'] as const;
  return {
    name: 'metrics',
    length: metrics.length,
    columns: [
      floats('time', metrics.time),
      worker(trace, 'worker', metrics.worker),
      ...labels.map((title) => stringsOf(title, metrics[title], strings)),
      floats('value', metrics.value),
    ],
  };
}

function frameTable({ frames, strings }: Trace): PlainTable {
  return {
    name: 'frames',
    length: frames.length,
    columns: [
      column('id', 'integer', (row) => row),
      integers('parent', frames.parent),
      stringsOf('function', frames.functionName, strings),
      stringsOf('file', frames.file, strings),
      integers('line', frames.line),
    ],
  };
}

function sampleTable(trace: Trace): PlainTable {
  const { samples, strings } = trace;
  return {
    name: 'samples',
    length: samples.length,
    columns: [
      floats('time', samples.time),
      worker(trace, 'worker', samples.worker),
      integers('thread', samples.thread),
      column('task', 'integer', (row) => (samples.task[row]! < 0 ? undefined : samples.task[row])),
      stringsOf('prefix', samples.prefix, strings),
      stringsOf('span', samples.span, strings),
      integers('frame', samples.frame),
      integers('line', samples.line),
      floats('count', samples.count),
      floats('interval', samples.interval),
    ],
  };
}

function eventTable(trace: Trace): PlainTable {
  const { events, strings } = trace;
  return {
    name: 'events',
    length: events.length,
    columns: [
      floats('time', events.time),
      worker(trace, 'worker', events.worker),
      stringsOf('topic', events.topic, strings),
      stringsOf('text', events.text, strings),
    ],
  };
}

function column(title: string, type: TableColumn['type'], cell: (row: number) => TableCell): TableColumn {
  return { title, type, cell };
}

function texts(title: string, cell: (row: number) => string | undefined): TableColumn {
  return column(title, 'text', cell);
}

function floats(title: string, values: Float64Array): TableColumn {
  return column(title, 'float', (row) => known(values[row]));
}

/** Whole numbers; -1 in a column of ids is absent. */
function integers(title: string, values: Float64Array | Int32Array | Uint8Array): TableColumn {
  const ids = values instanceof Int32Array;
  return column(title, 'integer', (row) => (ids && values[row] === -1 ? undefined : known(values[row])));
}

function stringsOf(title: string, ids: Int32Array, strings: Texts): TableColumn {
  return texts(title, (row) => (ids[row]! < 0 ? undefined : strings.get(ids[row]!)));
}

function choices(title: string, values: Uint8Array, among: readonly string[]): TableColumn {
  return texts(title, (row) => among[values[row]!]);
}

function worker({ workers, strings }: Trace, title: string, rows: Int32Array): TableColumn {
  return texts(title, (row) => {
    const name = rows[row]! < 0 ? -1 : workers.name[rows[row]!]!;
    return name < 0 ? undefined : strings.get(name);
  });
}

function known(value: number | undefined): number | undefined {
  return value === undefined || Number.isNaN(value) ? undefined : value;
}
