// A Trace over what a live trace holds: columns are views of its chunks, or are joined from them when they are first read.
import type { ClusterEvent, Transfer } from '../../protocol/clusterObserver.js';
import { once } from '../once.js';
import type { SampleWindow } from '../samples/sampleWindow.js';
import type { StringTable } from '../stringTable.js';
import {
  EventBuilder,
  type IntervalBuilder,
  type MemoryBuilder,
  type MetricBuilder,
  type ResourceBuilder,
  TransferBuilder,
  type WorkerBuilder,
} from '../tableBuilders.js';
import type { TotalSums } from '../totals.js';
import {
  DIRECTIONS,
  type EventRows,
  type IntervalRows,
  type MemoryRows,
  type MetricRows,
  type ResourceRows,
  type TableName,
  TRANSFER_KINDS,
  type Trace,
  type TransferRows,
  type WorkerRows,
} from '../trace.js';
import type { LiveComputations } from './liveComputations.js';
import { LiveTaskColumns } from './liveTasks.js';
import { Joined, type Piece, type RowWindow } from './rowWindow.js';
import type { TaskWindow } from './taskWindow.js';

/** What a live trace is made of. */
export interface LiveRows {
  /** Grows with the names of functions, workers and so on, not with keys or texts. */
  readonly names: StringTable;
  /** Ids of names by the numbers in chunks. */
  readonly typeIds: () => Int32Array;
  readonly computations: LiveComputations;
  readonly workers: WorkerBuilder;
  readonly totals: TotalSums;
  readonly tasks: TaskWindow;
  readonly intervals: RowWindow<IntervalBuilder>;
  readonly transfers: RowWindow<Transfer[]>;
  readonly memory: RowWindow<MemoryBuilder>;
  readonly resources: RowWindow<ResourceBuilder>;
  readonly metrics: RowWindow<MetricBuilder>;
  readonly samples: SampleWindow;
  readonly events: RowWindow<ClusterEvent[]>;
}

/** The rows `[from .. to)` of each table, counted since the beginning. */
export function snapshotOf(
  rows: LiveRows,
  from: Readonly<Record<TableName, number>>,
  to: Readonly<Record<TableName, number>>,
): Trace {
  // Sums of older samples have names, too.
  const samples = once(rows.samples.rows(from.samples, to.samples));
  const frames = rows.samples.frames.build();
  const strings = rows.names.copy();
  const workers = rows.workers.build();
  const transfers = rows.transfers.pieces(from.transfers, to.transfers);
  const tasks = new LiveTaskColumns({
    pieces: rows.tasks.pieces(from.tasks, to.tasks),
    typeIds: rows.typeIds().slice(),
    computations: rows.computations.all.slice(),
    workers,
    strings,
    otherKeys: () => rowsOf(transfers).flatMap(({ keys }) => keys),
  });
  const events = eventRows(rows.events.pieces(from.events, to.events), strings);
  const intervals = new Joined(rows.intervals.pieces(from.intervals, to.intervals));
  const memory = new Joined(rows.memory.pieces(from.memory, to.memory));
  const metrics = new Joined(rows.metrics.pieces(from.metrics, to.metrics));
  const resources = new Joined(rows.resources.pieces(from.resources, to.resources));
  // The sums go on growing: they are taken now.
  const totals = rows.totals.copy(workers.length);
  const made = {
    intervals: once(() => intervalRows(intervals)),
    transfers: once(() => transferRows(transfers, tasks)),
    memory: once(() => memoryRows(memory, workers)),
    resources: once(() => resourceRows(resources, workers)),
    metrics: once(() => metricRows(metrics)),
  };
  return {
    strings,
    workers,
    tasks: tasks.rows,
    get computations() {
      return tasks.computations;
    },
    get keys() {
      return tasks.keys;
    },
    get intervals() {
      return made.intervals();
    },
    get transfers() {
      return made.transfers();
    },
    get memory() {
      return made.memory();
    },
    get resources() {
      return made.resources();
    },
    get metrics() {
      return made.metrics();
    },
    frames,
    get samples() {
      return samples();
    },
    events,
    totals,
    letGo: {
      tasks: rows.tasks.first,
      intervals: rows.intervals.first,
      transfers: rows.transfers.first,
      memory: rows.memory.first,
      resources: rows.resources.first,
      metrics: rows.metrics.first,
      samples: 0,
      events: rows.events.first,
    },
    eventCount:
      rows.tasks.end +
      rows.intervals.end +
      rows.transfers.end +
      rows.memory.end +
      rows.resources.end +
      rows.metrics.end +
      rows.samples.end +
      rows.events.end,
    damage: undefined,
  };
}

function rowsOf<T>(pieces: readonly Piece<readonly T[]>[]): T[] {
  return pieces.flatMap(({ chunk, from, to }) => chunk.slice(from, to));
}

function intervalRows(joined: Joined<IntervalBuilder>): IntervalRows {
  const built = new Map(joined.pieces.map(({ chunk }) => [chunk, chunk.build()]));
  const part = (chunk: IntervalBuilder): IntervalRows => built.get(chunk) ?? chunk.build();
  return {
    length: joined.length,
    worker: joined.ids((chunk) => part(chunk).worker),
    thread: joined.ids((chunk) => part(chunk).thread),
    action: joined.bytes((chunk) => part(chunk).action),
    start: joined.numbers((chunk) => part(chunk).start),
    stop: joined.numbers((chunk) => part(chunk).stop),
    task: joined.numbers((chunk) => part(chunk).task),
    nbytes: joined.numbers((chunk) => part(chunk).nbytes),
  };
}

function memoryRows(joined: Joined<MemoryBuilder>, workers: WorkerRows): MemoryRows {
  const built = new Map(joined.pieces.map(({ chunk }) => [chunk, chunk.build()]));
  const part = (chunk: MemoryBuilder): MemoryRows => built.get(chunk) ?? chunk.build();
  const worker = joined.ids((chunk) => part(chunk).worker);
  return {
    length: joined.length,
    time: joined.numbers((chunk) => part(chunk).time),
    host: worker.map((row) => workers.host[row] ?? -1),
    worker,
    managed: joined.numbers((chunk) => part(chunk).managed),
    unmanaged: joined.numbers((chunk) => part(chunk).unmanaged),
    spilled: joined.numbers((chunk) => part(chunk).spilled),
    process: joined.numbers((chunk) => part(chunk).process),
    tasks: joined.numbers((chunk) => part(chunk).tasks),
  };
}

function metricRows(joined: Joined<MetricBuilder>): MetricRows {
  const built = new Map(joined.pieces.map(({ chunk }) => [chunk, chunk.build()]));
  const part = (chunk: MetricBuilder): MetricRows => built.get(chunk) ?? chunk.build();
  return {
    length: joined.length,
    time: joined.numbers((chunk) => part(chunk).time),
    worker: joined.ids((chunk) => part(chunk).worker),
    context: joined.ids((chunk) => part(chunk).context),
    span: joined.ids((chunk) => part(chunk).span),
    prefix: joined.ids((chunk) => part(chunk).prefix),
    activity: joined.ids((chunk) => part(chunk).activity),
    unit: joined.ids((chunk) => part(chunk).unit),
    value: joined.numbers((chunk) => part(chunk).value),
  };
}

function transferRows(pieces: readonly Piece<Transfer[]>[], tasks: LiveTaskColumns): TransferRows {
  const builder = new TransferBuilder();
  const { keys } = tasks;
  for (const transfer of rowsOf(pieces)) {
    builder.add({
      ...transfer,
      direction: DIRECTIONS.indexOf(transfer.direction),
      what: TRANSFER_KINDS.indexOf(transfer.what),
      keys: transfer.keys.map((key) => keys.internString(key)),
    });
  }
  return builder.build();
}

/** Samples without a worker are of the host where the scheduler is: that of the first worker. */
function resourceRows(joined: Joined<ResourceBuilder>, workers: WorkerRows): ResourceRows {
  const built = new Map(joined.pieces.map(({ chunk }) => [chunk, chunk.build()]));
  const part = (chunk: ResourceBuilder): ResourceRows => built.get(chunk) ?? chunk.build();
  const figure = (name: string): Float64Array =>
    joined.numbers((chunk) => {
      const { figures, length } = part(chunk);
      return figures.get(name) ?? new Float64Array(length).fill(Number.NaN);
    });
  const names = new Set(Array.from(built.values(), ({ figures }) => [...figures.keys()]).flat());
  const worker = joined.ids((chunk) => part(chunk).worker);
  return {
    length: joined.length,
    time: joined.numbers((chunk) => part(chunk).time),
    host: worker.map((row) => workers.host[Math.max(0, row)] ?? -1),
    worker,
    device: joined.ids((chunk) => part(chunk).device),
    gpuUtilization: joined.numbers((chunk) => part(chunk).gpuUtilization),
    gpuMemoryUsed: joined.numbers((chunk) => part(chunk).gpuMemoryUsed),
    figures: new Map(Array.from(names, (name) => [name, figure(name)])),
  };
}

function eventRows(pieces: readonly Piece<ClusterEvent[]>[], strings: StringTable): EventRows {
  const builder = new EventBuilder();
  for (const { time, worker, topic, text } of rowsOf(pieces)) {
    builder.add(time, worker, strings.internString(topic), strings.internString(text));
  }
  return builder.build();
}
