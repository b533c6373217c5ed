// A recorded trace as a Trace: tables are read from their streams when they are first asked for.
import { ACTIONS, TASK_STATES } from '../../protocol/clusterObserver.js';
import type { ArrowStream } from '../formats/arrowDecoder.js';
import { once } from '../once.js';
import { totalsOfRows } from '../rowTotals.js';
import { FrameBuilder } from '../samples/sampleRows.js';
import type { SampleSums } from '../samples/sampleSums.js';
import { joinedSamples, summedSamples } from '../samples/sampleWindow.js';
import { StringTable } from '../stringTable.js';
import type { TraceTotals } from '../totals.js';
import {
  DIRECTIONS,
  type EventRows,
  type FrameRows,
  type IntervalRows,
  type MemoryRows,
  type MetricRows,
  NOTHING_LET_GO,
  type ResourceRows,
  type RowsLetGo,
  type SampleRows,
  TRANSFER_KINDS,
  type Trace,
  type TraceDamage,
  type TransferRows,
  type WorkerRows,
} from '../trace.js';
import { indices, listed, RecordedTasks, type Streams } from './recordedTasks.js';
import { FIGURE_COLUMNS, fieldsOf, RECORDED_TABLE_NAMES } from './traceTables.js';

/** Named figures beside those that have a column. */
const MAX_OTHER_FIGURES = 64;
/** More workers than any cluster has: an index beyond it is damage. */
const MAX_WORKERS = 1e6;

/** What a trace is told of rows that its streams do not hold. */
export interface KnownTotals {
  /** Default: the sums of the rows that are there. */
  readonly totals?: TraceTotals;
  readonly letGo?: RowsLetGo;
  /** Sums of samples that are older than those of the streams. */
  readonly older?: SampleSums;
}

/** The trace in opened streams. Reading a column throws DamagedBytes where a stream that was not checked is damaged. */
export function recordedTrace(streams: Streams, damage: TraceDamage | undefined, known?: KnownTotals): Trace {
  const strings = internTexts(streams);
  const workers = workerRows(streams.workers, strings);
  const tasks = new RecordedTasks(streams, strings, workers);
  const tables = {
    intervals: once(() => intervalRows(streams.intervals, strings, workers)),
    transfers: once(() => transferRows(streams.transfers, strings, workers, tasks)),
    memory: once(() => memoryRows(streams.memory, workers)),
    resources: once(() => resourceRows(streams.resources, workers)),
    metrics: once(() => metricRows(streams.metrics, strings, workers)),
    profile: once(() => profileRows(streams, strings, workers, known?.older)),
    events: once(() => eventRows(streams.events, strings, workers)),
  };
  const trace: Trace = {
    strings,
    workers,
    tasks: tasks.rows,
    letGo: known?.letGo ?? NOTHING_LET_GO,
    eventCount: RECORDED_TABLE_NAMES.reduce((sum, table) => sum + streams[table].length, 0),
    damage,
    get keys() {
      return tasks.keys;
    },
    get computations() {
      return tasks.computations();
    },
    get intervals() {
      return tables.intervals();
    },
    get transfers() {
      return tables.transfers();
    },
    get memory() {
      return tables.memory();
    },
    get resources() {
      return tables.resources();
    },
    get metrics() {
      return tables.metrics();
    },
    get frames() {
      return tables.profile().frames;
    },
    get samples() {
      return tables.profile().samples;
    },
    get events() {
      return tables.events();
    },
    get totals() {
      return totals();
    },
  };
  const totals = once(() => known?.totals ?? totalsOfRows(trace));
  return trace;
}

/** All texts but keys, so that no id appears in `strings` after the trace was opened. */
function internTexts(streams: Streams): StringTable {
  const strings = new StringTable();
  for (const list of [TASK_STATES, ACTIONS, DIRECTIONS, TRANSFER_KINDS]) {
    for (const text of list) strings.internString(text);
  }
  for (const table of RECORDED_TABLE_NAMES) {
    for (const { name, type } of fieldsOf(table)) {
      const isKey = table === 'tasks' && name === 'group';
      if (type === 'dictionary' && !isKey) streams[table].dictionary(name, strings);
    }
  }
  for (const name of ['name', 'address', 'host', 'reason']) streams.workers.texts(name, strings);
  streams.events.texts('text', strings);
  return strings;
}

function numbers(stream: ArrowStream, name: string): Float64Array {
  return stream.float64(name) ?? new Float64Array(stream.length).fill(Number.NaN);
}

function texts(stream: ArrowStream, name: string, strings: StringTable): Int32Array {
  return stream.texts(name, strings) ?? new Int32Array(stream.length).fill(-1);
}

/** A worker that went has a second row, which says all that the first says. */
function workerRows(stream: ArrowStream, strings: StringTable): WorkerRows {
  const index = stream.int32('index') ?? new Int32Array(0);
  let length = 0;
  for (const one of index) if (one < MAX_WORKERS) length = Math.max(length, one + 1);
  const ids = (name: string): Int32Array => {
    const column = texts(stream, name, strings);
    const result = new Int32Array(length).fill(-1);
    for (const [row, at] of index.entries()) if (at >= 0 && at < length) result[at] = column[row]!;
    return result;
  };
  const spread = (column: ArrayLike<number>): Float64Array => {
    const result = new Float64Array(length).fill(Number.NaN);
    for (const [row, at] of index.entries()) if (at >= 0 && at < length) result[at] = column[row]!;
    return result;
  };
  // Null is -1 in a column of integers, and NaN in those of workers.
  const counts = (name: string): Float64Array =>
    spread(Float64Array.from(stream.int32(name) ?? [], (value) => (value < 0 ? Number.NaN : value)));
  return {
    length,
    name: ids('name'),
    address: ids('address'),
    host: ids('host'),
    pid: counts('pid'),
    threads: counts('threads'),
    memoryLimit: spread(numbers(stream, 'memory_limit')),
    started: spread(numbers(stream, 'started')),
    stopped: spread(numbers(stream, 'stopped')),
    reason: ids('reason'),
  };
}

function intervalRows(stream: ArrowStream, strings: StringTable, workers: WorkerRows): IntervalRows {
  const { length } = stream;
  return {
    length,
    worker: indices(stream.int32('worker'), length, workers.length),
    thread: stream.int32('thread') ?? new Int32Array(length),
    action: listed(stream, 'action', strings, ACTIONS),
    start: numbers(stream, 'start'),
    stop: numbers(stream, 'stop'),
    task: stream.int64('task') ?? new Float64Array(length).fill(-1),
    nbytes: numbers(stream, 'nbytes'),
  };
}

function transferRows(
  stream: ArrowStream,
  strings: StringTable,
  workers: WorkerRows,
  tasks: RecordedTasks,
): TransferRows {
  const { length } = stream;
  return {
    length,
    worker: indices(stream.int32('worker'), length, workers.length),
    peer: indices(stream.int32('peer'), length, workers.length),
    direction: listed(stream, 'direction', strings, DIRECTIONS),
    what: listed(stream, 'what', strings, TRANSFER_KINDS),
    nbytes: numbers(stream, 'nbytes'),
    compressed: numbers(stream, 'compressed'),
    start: numbers(stream, 'start'),
    stop: numbers(stream, 'stop'),
    // All keys of the trace are made with them.
    get keyOffsets() {
      return tasks.transferKeys.offsets;
    },
    get keys() {
      return tasks.transferKeys.ids;
    },
  };
}

function memoryRows(stream: ArrowStream, workers: WorkerRows): MemoryRows {
  const { length } = stream;
  const worker = indices(stream.int32('worker'), length, workers.length);
  return {
    length,
    time: numbers(stream, 'time'),
    host: worker.map((row) => workers.host[row] ?? -1),
    worker,
    managed: numbers(stream, 'managed'),
    unmanaged: numbers(stream, 'unmanaged'),
    spilled: numbers(stream, 'spilled'),
    process: numbers(stream, 'process'),
    tasks: numbers(stream, 'tasks'),
  };
}

/** Samples without a worker are of the host where the scheduler is: that of the first worker. */
function resourceRows(stream: ArrowStream, workers: WorkerRows): ResourceRows {
  const { length } = stream;
  const worker = indices(stream.int32('worker'), length, workers.length);
  const figures = new Map<string, Float64Array>();
  for (const name of FIGURE_COLUMNS) {
    if (name.startsWith('gpu_')) continue;
    const column = numbers(stream, name);
    if (column.some((value) => !Number.isNaN(value))) figures.set(name, column);
  }
  addOthers(stream, figures);
  return {
    length,
    time: numbers(stream, 'time'),
    host: worker.map((row) => workers.host[Math.max(0, row)] ?? -1),
    worker,
    device: new Int32Array(length).fill(-1),
    gpuUtilization: numbers(stream, 'gpu_utilization'),
    gpuMemoryUsed: numbers(stream, 'gpu_memory_used'),
    figures,
  };
}

/** Figures without a column stand as JSON objects. */
function addOthers(stream: ArrowStream, figures: Map<string, Float64Array>): void {
  const table = new StringTable();
  const ids = texts(stream, 'others', table);
  const parsed = new Map<number, Map<string, number>>();
  for (const [row, id] of ids.entries()) {
    if (id < 0) continue;
    let values = parsed.get(id);
    if (values === undefined) {
      values = numbersOf(table.get(id));
      parsed.set(id, values);
    }
    for (const [name, value] of values) {
      let column = figures.get(name);
      if (column === undefined) {
        if (figures.size >= MAX_OTHER_FIGURES) continue;
        column = new Float64Array(stream.length).fill(Number.NaN);
        figures.set(name, column);
      }
      column[row] = value;
    }
  }
}

function numbersOf(json: string): Map<string, number> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return new Map();
  }
  if (typeof value !== 'object' || value === null) return new Map();
  return new Map(
    Object.entries(value).flatMap(([name, one]) => (typeof one === 'number' ? [[name, one]] : [])),
  );
}

function metricRows(stream: ArrowStream, strings: StringTable, workers: WorkerRows): MetricRows {
  const { length } = stream;
  return {
    length,
    time: numbers(stream, 'time'),
    worker: indices(stream.int32('worker'), length, workers.length),
    context: texts(stream, 'context', strings),
    span: texts(stream, 'span', strings),
    prefix: texts(stream, 'prefix', strings),
    activity: texts(stream, 'activity', strings),
    unit: texts(stream, 'unit', strings),
    value: numbers(stream, 'value'),
  };
}

/** Frames are told again where somebody began to read; the first row of each counts. */
function profileRows(
  { frames: frameStream, samples: stream }: Streams,
  strings: StringTable,
  workers: WorkerRows,
  older: SampleSums | undefined,
): { readonly frames: FrameRows; readonly samples: SampleRows } {
  const frames = new FrameBuilder(strings);
  const [id, parent] = [longs(frameStream, 'id'), longs(frameStream, 'parent')];
  const [name, file] = [texts(frameStream, 'function', strings), texts(frameStream, 'file', strings)];
  const line = frameStream.int32('line') ?? new Int32Array(id.length);
  for (const [row, one] of id.entries()) frames.addRow(one, parent[row]!, name[row]!, file[row]!, line[row]!);
  const { length } = stream;
  const samples = {
    length,
    time: numbers(stream, 'time'),
    worker: indices(stream.int32('worker'), length, workers.length),
    thread: stream.int32('thread') ?? new Int32Array(length),
    task: longs(stream, 'task'),
    prefix: texts(stream, 'prefix', strings),
    span: texts(stream, 'span', strings),
    frame: Int32Array.from(longs(stream, 'frame'), (one) => frames.rowOf(one)),
    line: stream.int32('line') ?? new Int32Array(length),
    count: numbers(stream, 'count'),
    interval: numbers(stream, 'interval'),
  };
  const parts = older === undefined ? [samples] : [summedSamples(older, strings, frames), samples];
  return { frames: frames.build(), samples: joinedSamples(parts) };
}

function longs(stream: ArrowStream, name: string): Float64Array {
  return stream.int64(name) ?? new Float64Array(stream.length).fill(-1);
}

function eventRows(stream: ArrowStream, strings: StringTable, workers: WorkerRows): EventRows {
  return {
    length: stream.length,
    time: numbers(stream, 'time'),
    worker: indices(stream.int32('worker'), stream.length, workers.length),
    topic: texts(stream, 'topic', strings),
    text: texts(stream, 'text', strings),
  };
}
