// The tables of a trace directory: file names and columns. docs/trace-format.md explains them; a change that an older
// Longpole could misread raises FORMAT_VERSION, a new column does not.
import { VIEW_TABLES } from '../../protocol/viewMessages.js';
import type { ArrowField, ArrowType } from '../formats/arrowTypes.js';

export const FORMAT_VERSION = 1;

type Columns = Readonly<Record<string, ArrowType>>;

/** Column → type, in the order in which they are written. */
export const RECORDED_TABLES = {
  workers: {
    index: 'int32',
    name: 'utf8',
    address: 'utf8',
    host: 'utf8',
    pid: 'int32',
    threads: 'int32',
    memory_limit: 'float64',
    started: 'float64',
    stopped: 'float64',
    reason: 'utf8',
  },
  computations: {
    number: 'int32',
    first_id: 'int64',
    size: 'int32',
    submitted: 'float64',
    client: 'utf8',
    code: 'utf8',
  },
  dependencies: { task: 'int64', dependency: 'int64' },
  tasks: {
    id: 'int64',
    key: 'utf8',
    prefix: 'dictionary',
    group: 'dictionary',
    function: 'dictionary',
    span: 'dictionary',
    computation: 'int32',
    worker: 'int32',
    thread: 'int32',
    state: 'dictionary',
    attempt: 'uint8',
    result_type: 'dictionary',
    nbytes: 'float64',
    submitted: 'float64',
    ready: 'float64',
    dispatched: 'float64',
    received: 'float64',
    started: 'float64',
    stopped: 'float64',
    acknowledged: 'float64',
  },
  intervals: {
    worker: 'int32',
    thread: 'int32',
    action: 'dictionary',
    start: 'float64',
    stop: 'float64',
    task: 'int64',
    nbytes: 'float64',
  },
  transfers: {
    worker: 'int32',
    peer: 'int32',
    direction: 'dictionary',
    what: 'dictionary',
    keys: 'utf8-list',
    nbytes: 'float64',
    compressed: 'float64',
    start: 'float64',
    stop: 'float64',
  },
  memory: {
    time: 'float64',
    worker: 'int32',
    managed: 'float64',
    unmanaged: 'float64',
    spilled: 'float64',
    process: 'float64',
    tasks: 'float64',
  },
  resources: {
    time: 'float64',
    worker: 'int32',
    cpu: 'float64',
    rss: 'float64',
    heap: 'float64',
    external: 'float64',
    eventLoopDelay: 'float64',
    event_loop_utilization: 'float64',
    host_cpu: 'float64',
    'host_net_io.read_bps': 'float64',
    'host_net_io.write_bps': 'float64',
    'host_disk_io.read_bps': 'float64',
    'host_disk_io.write_bps': 'float64',
    'disk_io.read_bps': 'float64',
    'disk_io.write_bps': 'float64',
    num_fds: 'float64',
    gpu_utilization: 'float64',
    gpu_memory_used: 'float64',
    others: 'utf8',
  },
  metrics: {
    time: 'float64',
    worker: 'int32',
    context: 'dictionary',
    span: 'dictionary',
    prefix: 'dictionary',
    activity: 'dictionary',
    unit: 'dictionary',
    value: 'float64',
  },
  frames: {
    id: 'int64',
    parent: 'int64',
    function: 'dictionary',
    file: 'dictionary',
    line: 'int32',
  },
  samples: {
    time: 'float64',
    worker: 'int32',
    thread: 'int32',
    task: 'int64',
    prefix: 'dictionary',
    span: 'dictionary',
    frame: 'int64',
    line: 'int32',
    count: 'float64',
    interval: 'float64',
  },
  events: { time: 'float64', worker: 'int32', topic: 'dictionary', text: 'utf8' },
} as const satisfies Readonly<Record<string, Columns>>;

export type RecordedTable = keyof typeof RECORDED_TABLES;

/** In the order in which batches are written: what rows refer to is there before the rows. */
export const RECORDED_TABLE_NAMES = VIEW_TABLES satisfies readonly RecordedTable[];

export function fieldsOf(table: RecordedTable): ArrowField[] {
  return Object.entries(RECORDED_TABLES[table]).map(([name, type]) => ({ name, type }));
}

/** Figures of resource samples that have a column. */
export const FIGURE_COLUMNS: readonly string[] = Object.keys(RECORDED_TABLES.resources).filter(
  (name) => !['time', 'worker', 'others'].includes(name),
);
