// Every table of a trace and every column of it, as data. Row types, builders, windows, files, exports and the tables
// of docs/trace-format.md follow from it. A new column is added here, at its measurement and in a view.
import type { ColumnSpec, EncodedRow, ReportedRow, RowsOf, TableSpec } from './schemaTypes.js';

/** Outcomes of a run of a task. Their numbers are in the columns of TaskRuns. */
export const TASK_STATES = ['memory', 'erred', 'cancelled', 'lost'] as const;

/**
 * Actions of a worker in an interval. `await`: an asynchronous task left its thread idle; for each task only the sum
 * is known, as one interval from the first wait. `profiler`: the start of the profiler delayed the thread.
 */
export const ACTIONS = [
  'compute',
  'transfer',
  'disk-read',
  'disk-write',
  'serialize',
  'deserialize',
  'compress',
  'decompress',
  'gc',
  'await',
  'profiler',
] as const;

export const DIRECTIONS = ['incoming', 'outgoing'] as const;
export const TRANSFER_KINDS = ['gather-dep', 'get-data', 'gather', 'scatter'] as const;

/** Tables in the order of writing: rows follow the rows to which they refer. */
export const TRACE_SCHEMA = {
  workers: {
    row: 'worker; a second row when it goes, which repeats the first',
    columns: {
      index: { kind: 'index', doc: 'Number of the worker; one that replaces another has a new number.' },
      name: { kind: 'text', doc: 'Name, e.g. `threads-0`.' },
      address: { optional: true, kind: 'text', doc: 'Address under which other workers reach it.' },
      host: { kind: 'text', doc: 'Name of its machine.' },
      pid: { optional: true, kind: 'count', doc: 'Process id.' },
      threads: { optional: true, kind: 'count', doc: 'Number of threads that run tasks.' },
      memoryLimit: {
        optional: true,
        kind: 'whole',
        unit: 'bytes',
        title: 'memory_limit',
        doc: 'Memory limit; 0: none.',
      },
      started: { optional: true, kind: 'float', unit: 'time', doc: 'Time at which it joined.' },
      stopped: {
        optional: true,
        kind: 'float',
        unit: 'time',
        absent: 'it is there',
        doc: 'Time at which it left.',
      },
      reason: { optional: true, kind: 'text', absent: 'it is there', doc: 'Why it left.' },
    },
  },
  computations: {
    row: 'compute, submit or map',
    columns: {
      number: { kind: 'integer', doc: '1, 2, 3, …' },
      first_id: { kind: 'id', doc: 'Id of its first task; the ids of its tasks follow each other.' },
      size: { kind: 'integer', doc: 'Number of its tasks.' },
      submitted: { kind: 'float', unit: 'time', doc: 'Time at which the program began to ask for it.' },
      client: { kind: 'text', doc: 'The client that submitted it.' },
      code: { kind: 'text', doc: 'Lines of the program that submitted it; empty: not known.' },
    },
  },
  dependencies: {
    row: 'edge of the graph',
    columns: {
      task: { kind: 'task', doc: 'The task that needs a result.' },
      dependency: { kind: 'task', doc: 'The task whose result it needs.' },
    },
  },
  tasks: {
    row: 'run of a task that ended, in the order in which the ends became known',
    columns: {
      id: { kind: 'task', doc: 'Unique per task; several runs of one task have the same id.' },
      key: { kind: 'key', doc: 'Key of the task.' },
      prefix: { kind: 'name', doc: 'The key without its token.' },
      group: {
        kind: 'group',
        doc: 'First element of a tuple key, e.g. `sum-1f3a`; of other keys the prefix.',
      },
      functionName: { kind: 'name', title: 'function', doc: 'Name of the function.' },
      recordedName: {
        kind: 'name',
        title: 'recorded_name',
        derived: true,
        doc: 'The name as the recorder of a foreign format wrote it, e.g. cut to a width.',
      },
      span: { kind: 'name', doc: 'Names joined by `/`, e.g. `Alice/load`; `default` outside any span.' },
      computation: { kind: 'computation', doc: 'Number of its computation.' },
      worker: { kind: 'worker', doc: 'The worker that ran it.' },
      host: { kind: 'name', derived: true, doc: 'Machine of the worker.' },
      thread: { kind: 'integer', doc: 'Thread of the worker: 0, 1, 2, …' },
      device: {
        kind: 'name',
        derived: true,
        doc: 'Device that the recorder named, e.g. the number of a GPU.',
      },
      state: { kind: 'choice', among: TASK_STATES, doc: 'How the run ended.' },
      attempt: { kind: 'byte', doc: '1 for the first run of a task.' },
      submitted: { kind: 'float', unit: 'time', doc: 'Time at which its computation was submitted.' },
      ready: { kind: 'float', unit: 'time', doc: 'Time at which its last input was there.' },
      dispatched: { kind: 'float', unit: 'time', doc: 'Time at which the scheduler sent it to the worker.' },
      received: { kind: 'float', unit: 'time', doc: 'Time at which the worker received it.' },
      started: { kind: 'float', unit: 'time', doc: 'Time at which its function began.' },
      stopped: { kind: 'float', unit: 'time', doc: 'Time at which its function ended.' },
      acknowledged: { kind: 'float', unit: 'time', doc: 'Time at which the scheduler knew that it ended.' },
      coreWait: {
        optional: true,
        since: '1.2',
        kind: 'float',
        unit: 'seconds',
        title: 'core_wait',
        absent: 'not measured',
        doc: 'Seconds from `started` to `stopped` in which its thread was ready to run and waited for a core.',
      },
      duration: { kind: 'float', unit: 'seconds', derived: true, doc: 'Time from `started` to `stopped`.' },
      nbytes: { kind: 'whole', unit: 'bytes', doc: 'Size of the result.' },
      resultType: { kind: 'name', title: 'result_type', doc: 'Type of the result, e.g. `Float64Array`.' },
      call: {
        optional: true,
        since: '1.2',
        kind: 'text',
        doc: 'The task as it stands in the graph, e.g. `add(a, 1)`, from Profiler and CacheProfiler alone.',
      },
      dtype: { kind: 'name', derived: true, doc: 'Type of the elements of an array, from DASF alone.' },
      shape: {
        kind: 'name',
        derived: true,
        doc: 'Shape of an array as JSON, e.g. `[5000,2]`, from DASF alone.',
      },
    },
  },
  intervals: {
    row: "stretch of work that is not a task's own code, which is `started` to `stopped` of `tasks`",
    columns: {
      worker: { kind: 'worker', doc: 'The worker that did it.' },
      thread: { kind: 'integer', doc: 'Thread of the worker.' },
      action: {
        kind: 'choice',
        among: ACTIONS,
        doc: 'What it did. `await` is the sum of the time in which an asynchronous task left its thread idle.',
      },
      start: { kind: 'float', unit: 'time', doc: 'Time at which it began.' },
      stop: { kind: 'float', unit: 'time', doc: 'Time at which it ended.' },
      task: { kind: 'task', absent: 'no single task', doc: 'The task that it was for.' },
      nbytes: { kind: 'whole', unit: 'bytes', doc: 'Bytes that it handled.' },
    },
  },
  transfers: {
    row: 'movement of data and side: a movement between two workers has two rows',
    columns: {
      worker: { kind: 'worker', doc: 'The worker that reports it.' },
      peer: { kind: 'worker', absent: 'a client', doc: 'The other side.' },
      direction: { kind: 'choice', among: DIRECTIONS, doc: 'Direction, as `worker` sees it.' },
      what: { kind: 'choice', among: TRANSFER_KINDS, doc: 'Request that moved the data.' },
      nbytes: { kind: 'whole', unit: 'bytes', doc: 'Size of the results.' },
      compressed: { kind: 'whole', unit: 'bytes', doc: 'Bytes that travelled.' },
      start: { kind: 'float', unit: 'time', doc: 'Time at which it began.' },
      stop: { kind: 'float', unit: 'time', doc: 'Time at which it ended.' },
      keys: { kind: 'keys', doc: 'Keys of the results.' },
      ahead: {
        kind: 'whole',
        optional: true,
        since: '1.2',
        absent: 'not measured',
        doc: 'Unanswered requests on the same connection when it began.',
      },
    },
  },
  memory: {
    row: 'worker and heartbeat',
    columns: {
      time: { kind: 'float', unit: 'time', doc: 'Time of the heartbeat.' },
      worker: { kind: 'worker', doc: 'The worker.' },
      host: { kind: 'name', derived: true, doc: 'Machine of the worker.' },
      managed: { kind: 'whole', unit: 'bytes', doc: 'Size of the results that it holds in memory.' },
      unmanaged: { kind: 'whole', unit: 'bytes', doc: 'Memory of the process that is not `managed`.' },
      spilled: { kind: 'whole', unit: 'bytes', doc: 'Size of the results that it holds on disk.' },
      process: {
        kind: 'whole',
        unit: 'bytes',
        doc: 'Memory of the process, or of the isolate and its results where workers are threads.',
      },
      tasks: { kind: 'whole', unit: 'tasks', doc: 'Number of results that it holds in memory.' },
    },
  },
  resources: {
    row: 'sample of a host, or of one worker',
    columns: {
      time: { kind: 'float', unit: 'time', doc: 'Time of the sample.' },
      worker: { kind: 'worker', absent: 'the host', doc: 'The worker.' },
      host: { kind: 'name', derived: true, doc: 'The machine.' },
      device: {
        kind: 'name',
        derived: true,
        doc: 'The device of a sample of GPUs, from foreign formats alone.',
      },
      gpuUtilization: { kind: 'float', unit: 'percent', title: 'gpu_utilization', doc: 'Use of the GPU.' },
      gpuMemoryUsed: {
        kind: 'float',
        unit: 'bytes',
        title: 'gpu_memory_used',
        doc: 'Memory of the GPU in use.',
      },
      cpu: { kind: 'figure', unit: 'percent', doc: 'CPU time per time, of one core.' },
      rss: { kind: 'figure', unit: 'bytes', doc: 'Resident memory of the process.' },
      heap: { kind: 'figure', unit: 'bytes', doc: "Heap of the isolate; the scheduler's for the host." },
      external: { kind: 'figure', unit: 'bytes', doc: 'Memory outside the heap that the isolate holds.' },
      eventLoopDelay: { kind: 'figure', unit: 'seconds', doc: 'Delay of the event loop of the isolate.' },
      event_loop_utilization: { kind: 'figure', doc: 'Share of the time in which the event loop was busy.' },
      host_cpu: { kind: 'figure', unit: 'percent', doc: 'CPU use of the machine, of all cores.' },
      'host_net_io.read_bps': { kind: 'figure', unit: 'bytes per second', doc: 'Bytes received.' },
      'host_net_io.write_bps': { kind: 'figure', unit: 'bytes per second', doc: 'Bytes sent.' },
      'host_disk_io.read_bps': {
        kind: 'figure',
        unit: 'bytes per second',
        doc: 'Bytes read by the machine.',
      },
      'host_disk_io.write_bps': {
        kind: 'figure',
        unit: 'bytes per second',
        doc: 'Bytes written by the machine.',
      },
      'disk_io.read_bps': { kind: 'figure', unit: 'bytes per second', doc: 'Bytes read by the process.' },
      'disk_io.write_bps': { kind: 'figure', unit: 'bytes per second', doc: 'Bytes written by the process.' },
      num_fds: { kind: 'figure', doc: 'Open file descriptors.' },
      others: {
        kind: 'figures',
        absent: 'there are none',
        doc: 'JSON object of the figures without a column.',
      },
    },
  },
  metrics: {
    row: 'fine performance metric, worker and heartbeat',
    columns: {
      time: { kind: 'float', unit: 'time', doc: 'Time of the heartbeat.' },
      worker: { kind: 'worker', doc: 'The worker.' },
      context: {
        kind: 'name',
        doc: '`execute`, `gather-dep`, `get-data` or `memory-monitor`; of local diagnostics `cache` and `memory-sampler`.',
      },
      span: { kind: 'name', doc: 'Span of the task, names joined by `/`; empty outside tasks.' },
      prefix: { kind: 'name', doc: 'Prefix of the task; empty outside tasks.' },
      activity: { kind: 'name', doc: 'Activity, e.g. `thread-cpu`.' },
      unit: { kind: 'name', doc: 'Unit of `value`, e.g. `seconds`.' },
      value: { kind: 'float', doc: 'Sum since the heartbeat before.' },
      task: {
        optional: true,
        since: '1.2',
        kind: 'task',
        absent: 'several tasks, or none',
        doc: 'The task whose result enters (`value`) or leaves (`-value`) the cache that a CacheProfiler watched.',
      },
    },
  },
  frames: {
    row: 'stack frame: a function in one place of the call tree; callers come first, a row may come twice',
    since: '1.1',
    columns: {
      id: { kind: 'id', doc: 'Number of the frame.' },
      parent: { kind: 'frame', absent: 'the outermost frame', doc: 'Its caller.' },
      functionName: { kind: 'name', title: 'function', doc: 'Name of the function.' },
      file: {
        kind: 'name',
        doc: "The user's own file where source maps name one; empty for code of the engine.",
      },
      line: { kind: 'integer', doc: 'Line on which the function begins, from 1; 0: not known.' },
    },
  },
  samples: {
    row: 'sample of the statistical profiler, of a thread that had something to do',
    since: '1.1',
    columns: {
      time: { kind: 'float', unit: 'time', doc: 'Time of the sample; of several the mean.' },
      worker: { kind: 'worker', absent: "the scheduler's own thread", doc: 'The worker.' },
      thread: { kind: 'integer', doc: 'Thread of the worker.' },
      task: { kind: 'task', absent: 'none, or several', doc: 'The task that ran.' },
      prefix: { kind: 'name', absent: 'no task', doc: 'Prefix of the task.' },
      span: { kind: 'name', absent: 'no task', doc: 'Span of the task, names joined by `/`.' },
      frame: { kind: 'frame', doc: 'The innermost frame.' },
      line: { kind: 'integer', doc: 'Line that ran, from 1; 0: not known.' },
      count: { kind: 'float', doc: 'Number of samples that the row stands for.' },
      interval: {
        kind: 'float',
        unit: 'seconds',
        doc: 'Time between two samples: what each of them is worth.',
      },
    },
  },
  events: {
    row: 'anything else on the time axis',
    columns: {
      time: { kind: 'float', unit: 'time', doc: 'Time of the event.' },
      worker: { kind: 'worker', absent: 'the scheduler', doc: 'The worker.' },
      topic: { kind: 'name', doc: 'Topic, e.g. `stealing`.' },
      text: { kind: 'text', doc: 'What happened.' },
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

/** Returns the columns of a table, in order. */
export function columnsOf(table: RecordedTable): readonly Column[] {
  const columns: TableSpec['columns'] = TRACE_SCHEMA[table].columns;
  return Object.entries(columns).map(([name, spec]) => ({ title: name, ...spec, name }));
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
