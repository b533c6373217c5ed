// Every table of a trace and every column of it, as data. Row types, builders, windows, files, exports and the tables
// of docs/trace-format.md follow from it. To add a column, declare it here, measure it, and show it in a view.

import { getOrMake } from '../base/lookUps.js';
import type { ColumnSpec, EncodedRow, ReportedRow, RowsOf, TableSpec } from './schemaTypes.js';
import { ACTIONS, DIRECTIONS, TASK_STATES, TRANSFER_KINDS } from './traceNames.js';

const TIME = { kind: 'float', unit: 'time' } as const;
const SECONDS = { kind: 'float', unit: 'seconds' } as const;
const BYTES = { kind: 'whole', unit: 'bytes' } as const;
const RATE = { kind: 'figure', unit: 'bytes per second' } as const;
/** Names that are not in files. */
const DERIVED = { kind: 'name', derived: true } as const;
const LATER = { optional: true, since: '1.2' } as const;
const SECEDED = { optional: true, since: '1.3', absent: 'stayed in its slot' } as const;

/** Tables in the order of writing: rows follow the rows to which they refer. */
export const TRACE_SCHEMA = {
  workers: {
    row: 'worker; a removed worker has a second row, which repeats the first',
    columns: {
      index: { kind: 'index', doc: 'Number of the worker; a replacement has a new number.' },
      name: { kind: 'text', doc: 'Name, e.g. `threads-0`.' },
      address: { optional: true, kind: 'text', doc: 'Address to which other workers connect.' },
      host: { kind: 'text', doc: 'Name of the machine.' },
      pid: { optional: true, kind: 'count', doc: 'Process id.' },
      threads: { optional: true, kind: 'count', doc: 'Number of threads that run tasks.' },
      memoryLimit: { ...BYTES, optional: true, title: 'memory_limit', doc: 'Memory limit; 0 for no limit.' },
      started: { ...TIME, optional: true, doc: 'Time at which the worker joined.' },
      stopped: { ...TIME, optional: true, absent: 'still present', doc: 'Time at which the worker left.' },
      reason: { optional: true, kind: 'text', absent: 'still present', doc: 'Reason why the worker left.' },
    },
  },
  computations: {
    row: 'call of compute, submit or map, or burst of such calls',
    columns: {
      number: { kind: 'integer', doc: 'Number of the computation: 1, 2, 3, …' },
      first_id: { kind: 'id', doc: 'Id of the first task; the ids of a computation are consecutive.' },
      size: { kind: 'integer', doc: 'Number of tasks.' },
      submitted: { ...TIME, doc: "Time of the program's call." },
      client: { kind: 'text', doc: 'Client that submitted the computation.' },
      code: { kind: 'text', doc: 'Source lines of the call; empty if unknown.' },
      prepared: {
        ...TIME,
        optional: true,
        since: '1.3',
        absent: 'unknown',
        doc: "The program's own time in a burst of calls ends here; until their submission, Longpole prepares the tasks.",
      },
    },
  },
  dependencies: {
    row: 'edge of the graph',
    columns: {
      task: { kind: 'task', doc: 'Task that needs a result.' },
      dependency: { kind: 'task', doc: 'Task that gives the result.' },
    },
  },
  tasks: {
    row: 'completed run of a task, in the order in which completions were reported',
    columns: {
      id: { kind: 'task', doc: 'Unique per task; several runs of one task have the same id.' },
      key: { kind: 'key', doc: 'Key of the task.' },
      prefix: { kind: 'name', doc: 'The key without its token.' },
      group: {
        kind: 'group',
        doc: 'First element of a tuple key, e.g. `sum-1f3a`; the prefix of any other key.',
      },
      functionName: { kind: 'name', title: 'function', doc: 'Name of the function.' },
      recordedName: {
        ...DERIVED,
        title: 'recorded_name',
        doc: 'Name in a foreign format, e.g. truncated to a width.',
      },
      span: { kind: 'name', doc: 'Names joined by `/`, e.g. `Alice/load`; `default` outside of spans.' },
      computation: { kind: 'computation', doc: 'Number of the computation.' },
      worker: { kind: 'worker', doc: 'Worker that ran the task.' },
      host: { ...DERIVED, doc: 'Machine of the worker.' },
      thread: { kind: 'integer', doc: 'Thread of the worker: 0, 1, 2, …' },
      device: { ...DERIVED, doc: 'Device in a foreign format, e.g. the number of a GPU.' },
      state: { kind: 'choice', among: TASK_STATES, doc: 'Outcome of the run.' },
      attempt: { kind: 'byte', doc: 'Number of the run; 1 for the first run of a task.' },
      submitted: { ...TIME, doc: 'Time at which the computation was submitted.' },
      ready: { ...TIME, doc: 'Time at which the last input became available.' },
      dispatched: { ...TIME, doc: 'Time at which the scheduler sent the task to the worker.' },
      received: { ...TIME, doc: 'Time at which the worker received the task.' },
      started: { ...TIME, doc: 'Time at which the function started.' },
      stopped: { ...TIME, doc: 'Time at which the function ended.' },
      acknowledged: { ...TIME, doc: 'Time at which the scheduler received the completion.' },
      coreWait: {
        ...LATER,
        ...SECONDS,
        title: 'core_wait',
        absent: 'not measured',
        doc: 'Seconds from `started` to `stopped` in which the thread was ready to run but had no core.',
      },
      seceded: {
        ...SECEDED,
        ...TIME,
        doc: 'Time at which the task left its slot. From then on its thread ran other tasks.',
      },
      resumed: {
        ...SECEDED,
        ...TIME,
        doc: 'Time at which a seceded task had the last result that it awaited; `seceded` if it awaited none.',
      },
      waited: {
        ...SECEDED,
        ...SECONDS,
        doc: 'Seconds from `seceded` to `stopped` in which the task did not use its thread.',
      },
      duration: { ...SECONDS, derived: true, doc: 'Time from `started` to `stopped`, without `waited`.' },
      nbytes: { ...BYTES, doc: 'Size of the result.' },
      resultType: { kind: 'name', title: 'result_type', doc: 'Type of the result, e.g. `Float64Array`.' },
      call: {
        ...LATER,
        kind: 'text',
        doc: 'Expression of the task in the graph, e.g. `add(a, 1)`; only from Profiler and CacheProfiler.',
      },
      dtype: { ...DERIVED, doc: 'Type of the elements of an array; only from DASF.' },
      shape: { ...DERIVED, doc: 'Shape of an array as JSON, e.g. `[5000,2]`; only from DASF.' },
    },
  },
  intervals: {
    row: "interval of work other than a task's own code, which is `started` to `stopped` in `tasks`",
    columns: {
      worker: { kind: 'worker', doc: 'Worker of the interval.' },
      thread: { kind: 'integer', doc: 'Thread of the worker.' },
      action: {
        kind: 'choice',
        among: ACTIONS,
        doc: 'Kind of work. `await` is the total time in which an asynchronous task left its thread idle.',
      },
      start: { ...TIME, doc: 'Start time.' },
      stop: { ...TIME, doc: 'End time.' },
      task: { kind: 'task', absent: 'no single task', doc: 'Task of the interval.' },
      nbytes: { ...BYTES, doc: 'Bytes processed.' },
    },
  },
  transfers: {
    row: 'side of a transfer: a transfer between two workers has two rows',
    columns: {
      worker: { kind: 'worker', doc: 'Worker that reports the transfer.' },
      peer: { kind: 'worker', absent: 'a client', doc: 'Other side.' },
      direction: { kind: 'choice', among: DIRECTIONS, doc: 'Direction from the point of view of `worker`.' },
      what: { kind: 'choice', among: TRANSFER_KINDS, doc: 'Kind of request that transferred the data.' },
      nbytes: { ...BYTES, doc: 'Size of the results.' },
      compressed: { ...BYTES, doc: 'Bytes sent over the connection; 0 for copies of a local scheduler.' },
      start: { ...TIME, doc: 'Start time.' },
      stop: { ...TIME, doc: 'End time.' },
      keys: { kind: 'keys', doc: 'Keys of the results.' },
      ahead: {
        ...LATER,
        kind: 'whole',
        absent: 'not measured',
        doc: 'Unanswered requests on the same connection at the start.',
      },
    },
  },
  memory: {
    row: 'heartbeat of a worker',
    columns: {
      time: { ...TIME, doc: 'Time of the heartbeat.' },
      worker: { kind: 'worker', doc: 'Worker.' },
      host: { ...DERIVED, doc: 'Machine of the worker.' },
      managed: { ...BYTES, doc: 'Size of the results in memory.' },
      unmanaged: { ...BYTES, doc: 'Memory of the process other than `managed`.' },
      spilled: { ...BYTES, doc: 'Size of the results on disk.' },
      process: {
        ...BYTES,
        doc: 'Memory of the process; if workers are threads, of the isolate and its results.',
      },
      tasks: { kind: 'whole', unit: 'tasks', doc: 'Number of results in memory.' },
    },
  },
  resources: {
    row: 'sample of a host or of a worker',
    columns: {
      time: { ...TIME, doc: 'Time of the sample.' },
      worker: { kind: 'worker', absent: 'the host', doc: 'Worker.' },
      host: { ...DERIVED, doc: 'Machine.' },
      device: { ...DERIVED, doc: 'Device in a sample of GPUs; only in foreign formats.' },
      gpuUtilization: {
        kind: 'float',
        unit: 'percent',
        title: 'gpu_utilization',
        doc: 'Utilization of the GPU.',
      },
      gpuMemoryUsed: {
        kind: 'float',
        unit: 'bytes',
        title: 'gpu_memory_used',
        doc: 'Used memory of the GPU.',
      },
      cpu: { kind: 'figure', unit: 'percent', doc: 'CPU use; 100 for one core.' },
      rss: { kind: 'figure', unit: 'bytes', doc: 'Resident memory of the process.' },
      heap: { kind: 'figure', unit: 'bytes', doc: 'Heap of the isolate; for the host, of the scheduler.' },
      external: { kind: 'figure', unit: 'bytes', doc: 'Memory of the isolate outside its heap.' },
      eventLoopDelay: { kind: 'figure', unit: 'seconds', doc: 'Delay of the event loop of the isolate.' },
      event_loop_utilization: {
        kind: 'figure',
        unit: 'percent',
        doc: 'Share of time in which the event loop was busy.',
      },
      host_cpu: {
        kind: 'figure',
        unit: 'percent',
        doc: 'CPU use of all programs on the machine; 100 for one core.',
      },
      'host_net_io.read_bps': { ...RATE, doc: 'Bytes received by the machine.' },
      'host_net_io.write_bps': { ...RATE, doc: 'Bytes sent by the machine.' },
      'host_disk_io.read_bps': { ...RATE, doc: 'Bytes read by the machine.' },
      'host_disk_io.write_bps': { ...RATE, doc: 'Bytes written by the machine.' },
      'disk_io.read_bps': { ...RATE, doc: 'Bytes read by the process.' },
      'disk_io.write_bps': { ...RATE, doc: 'Bytes written by the process.' },
      num_fds: { kind: 'figure', doc: 'Open file descriptors.' },
      others: {
        kind: 'figures',
        absent: 'no such figures',
        doc: 'JSON object of the figures without a column.',
      },
    },
  },
  metrics: {
    row: 'fine performance metric of a worker at a heartbeat',
    columns: {
      time: { ...TIME, doc: 'Time of the heartbeat.' },
      worker: { kind: 'worker', doc: 'Worker.' },
      context: {
        kind: 'name',
        doc: '`execute`, `gather-dep`, `get-data`, `memory-monitor`, `shared`, `dropped`, `import` or `nested`; `cache` or `memory-sampler` for local diagnostics.',
      },
      span: { kind: 'name', doc: 'Span of the task, names joined by `/`; empty outside tasks.' },
      prefix: { kind: 'name', doc: 'Prefix of the task; empty outside tasks.' },
      activity: { kind: 'name', doc: 'Activity, e.g. `thread-cpu`.' },
      unit: { kind: 'name', doc: 'Unit of `value`, e.g. `seconds`.' },
      value: { kind: 'float', doc: 'Sum since the previous heartbeat.' },
      task: {
        ...LATER,
        kind: 'task',
        absent: 'several tasks, or none',
        doc: 'Task whose result enters (`value`) or leaves (`-value`) the cache that a CacheProfiler watched.',
      },
    },
  },
  frames: {
    row: 'stack frame, a function in one place of the call tree; callers come first, and rows may be repeated',
    since: '1.1',
    columns: {
      id: { kind: 'id', doc: 'Id of the frame.' },
      parent: { kind: 'frame', absent: 'the outermost frame', doc: 'Id of the caller.' },
      functionName: { kind: 'name', title: 'function', doc: 'Name of the function.' },
      file: {
        kind: 'name',
        doc: 'File of the function, according to source maps; empty for code of the JavaScript engine.',
      },
      line: { kind: 'integer', doc: 'First line of the function, from 1; 0 if unknown.' },
    },
  },
  samples: {
    row: 'sample of a busy thread by the statistical profiler',
    since: '1.1',
    columns: {
      time: { ...TIME, doc: 'Time of the sample; the mean time of several samples.' },
      worker: { kind: 'worker', absent: "the scheduler's thread", doc: 'Worker.' },
      thread: { kind: 'integer', doc: 'Thread of the worker.' },
      task: { kind: 'task', absent: 'no task, or several', doc: 'Task that ran.' },
      prefix: { kind: 'name', absent: 'no task', doc: 'Prefix of the task.' },
      span: { kind: 'name', absent: 'no task', doc: 'Span of the task, names joined by `/`.' },
      frame: { kind: 'frame', doc: 'Id of the innermost frame.' },
      line: { kind: 'integer', doc: 'Executed line, from 1; 0 if unknown.' },
      count: { kind: 'float', doc: 'Number of samples in the row.' },
      interval: { ...SECONDS, doc: 'Time between two samples, which is the weight of each.' },
    },
  },
  events: {
    row: 'other event with a time',
    columns: {
      time: { ...TIME, doc: 'Time of the event.' },
      worker: { kind: 'worker', absent: 'the scheduler', doc: 'Worker.' },
      topic: { kind: 'name', doc: 'Topic, e.g. `stealing`.' },
      text: { kind: 'text', doc: 'Description of the event.' },
    },
  },
} as const satisfies Readonly<Record<string, TableSpec>>;

type Schema = typeof TRACE_SCHEMA;
/** Tables of a trace directory. */
export type RecordedTable = keyof Schema;
/** The columns of a table in memory. */
export type TableRows<T extends RecordedTable> = RowsOf<Schema[T]['columns']>;
/** A row of a table as an engine reports it. */
export type Reported<T extends RecordedTable> = ReportedRow<Schema[T]['columns']>;
/** A row of a table with ids for texts. */
export type Encoded<T extends RecordedTable> = EncodedRow<Schema[T]['columns']>;

function isTable(name: string): name is RecordedTable {
  return name in TRACE_SCHEMA;
}

/** Names of the tables in the order of the schema. */
export const RECORDED_TABLES: readonly RecordedTable[] = Object.keys(TRACE_SCHEMA).filter(isTable);

/** Tables of rows that grow while a program runs. */
export const GROWING_TABLES = [
  'tasks',
  'intervals',
  'transfers',
  'memory',
  'resources',
  'metrics',
  'samples',
  'events',
] as const satisfies readonly RecordedTable[];

export interface Column extends ColumnSpec {
  /** Name in memory. */
  readonly name: string;
  /** Name in files and exports. */
  readonly title: string;
}

const known = new Map<RecordedTable, readonly Column[]>();

/** Returns the columns of a table, in order. */
export function columnsOf(table: RecordedTable): readonly Column[] {
  const columns: TableSpec['columns'] = TRACE_SCHEMA[table].columns;
  return getOrMake(known, table, () =>
    Object.entries(columns).map(([name, spec]) => ({ title: name, ...spec, name })),
  );
}

/** Returns the columns of a table in files, in order. */
export function fileColumns(table: RecordedTable): readonly Column[] {
  return columnsOf(table).filter(({ derived }) => derived !== true);
}

/** Returns whether traces of the first version may lack the table. */
export function appearedLater(table: RecordedTable): boolean {
  const { since = '1.0' }: TableSpec = TRACE_SCHEMA[table];
  return since !== '1.0';
}
