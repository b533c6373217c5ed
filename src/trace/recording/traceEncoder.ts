// The recorder of a trace directory, without the directory: an observer of a cluster that hands on the bytes of each table.
// It holds a batch of each table and nothing else, so a program may be recorded for days.
import type {
  ClusterEvent,
  ClusterObserver,
  Computation,
  MemorySample,
  MetricSample,
  ResourceSample,
  TaskRuns,
  Transfer,
  WorkerInfo,
  WorkInterval,
} from '../../protocol/clusterObserver.js';
import type { ProfileCycle } from '../../protocol/profileCycle.js';
import type { KindOf } from '../../protocol/taskKinds.js';
import { Float64Column } from '../columns.js';
import { figuresOf } from '../figures.js';
import { ArrowEncoder } from '../formats/arrowEncoder.js';
import type { ArrowCodec } from '../formats/arrowTypes.js';
import { cycleSamples } from '../samples/cycleSamples.js';
import type { FrameFacts } from '../samples/frameIds.js';
import type { SampleFacts } from '../samples/sampleRows.js';
import { type RecordedRow, RowBatch } from './rowBatch.js';
import { TaskBatch } from './taskBatch.js';
import { FIGURE_COLUMNS, fieldsOf, RECORDED_TABLE_NAMES, type RecordedTable } from './traceTables.js';

/** Takes the bytes of a table, in order, and how many rows they are. What it keeps it has to copy: the arrays are used again. */
export type TableSink = (table: RecordedTable, parts: readonly Uint8Array[], rows: number) => void;

export interface TraceEncoderOptions {
  /** Compresses the columns. Default: they are not. */
  readonly codec?: ArrowCodec;
  /** Rows of a table after which a batch is written. Default 16,384. */
  readonly batchRows?: number;
  /** Every batch brings its dictionaries, so that whoever reads may miss others. Default false. */
  readonly standalone?: boolean;
}

const BATCH_ROWS = 16_384;
/** Frames that are remembered as told, some 10 MB; beyond it they are told again. */
const MAX_FRAMES = 200_000;

export class TraceEncoder implements ClusterObserver {
  readonly #sink: TableSink;
  readonly #rows: number;
  readonly #tasks: TaskBatch;
  readonly #edges: EdgeBatch;
  readonly #tables: { readonly [T in Exclude<RecordedTable, 'tasks' | 'dependencies'>]: RowBatch<T> };
  readonly #seen = new WeakSet<Computation>();
  /** Numbers of the frames that were told. */
  readonly #frames = new Set<number>();
  readonly #workers = new Map<number, RecordedRow<'workers'>>();

  constructor(
    sink: TableSink,
    { codec, batchRows = BATCH_ROWS, standalone = false }: TraceEncoderOptions = {},
  ) {
    this.#sink = sink;
    this.#rows = batchRows;
    this.#tasks = new TaskBatch(batchRows, codec, standalone);
    this.#edges = new EdgeBatch(codec);
    this.#tables = {
      workers: new RowBatch('workers', codec, standalone),
      computations: new RowBatch('computations', codec, standalone),
      intervals: new RowBatch('intervals', codec, standalone),
      transfers: new RowBatch('transfers', codec, standalone),
      memory: new RowBatch('memory', codec, standalone),
      resources: new RowBatch('resources', codec, standalone),
      metrics: new RowBatch('metrics', codec, standalone),
      frames: new RowBatch('frames', codec, standalone),
      samples: new RowBatch('samples', codec, standalone),
      events: new RowBatch('events', codec, standalone),
    };
  }

  /** Call it first: every stream begins with its schema. */
  start(): void {
    for (const table of RECORDED_TABLE_NAMES) this.#sink(table, this.#batch(table).start(), 0);
  }

  /** Hands on all rows that are held. */
  flush(): void {
    for (const table of RECORDED_TABLE_NAMES) this.#flushTable(table);
  }

  /** Hands on what is left and ends the streams. */
  end(): void {
    this.flush();
    for (const table of RECORDED_TABLE_NAMES) this.#sink(table, this.#batch(table).end(), 0);
  }

  #batch(
    table: RecordedTable,
  ): TaskBatch | EdgeBatch | RowBatch<Exclude<RecordedTable, 'tasks' | 'dependencies'>> {
    if (table === 'tasks') return this.#tasks;
    return table === 'dependencies' ? this.#edges : this.#tables[table];
  }

  #flushTable(table: RecordedTable): void {
    // What rows refer to is there before the rows.
    if (table === 'samples') this.#flushTable('frames');
    const batch = this.#batch(table);
    const rows = batch.length;
    if (rows > 0) this.#sink(table, batch.take(), rows);
  }

  #add<T extends Exclude<RecordedTable, 'tasks' | 'dependencies'>>(table: T, row: RecordedRow<T>): void {
    const batch: RowBatch<T> = this.#tables[table];
    batch.add(row);
    if (batch.length >= this.#rows) this.#flushTable(table);
  }

  computationAdded(computation: Computation): void {
    if (this.#seen.has(computation)) return;
    this.#seen.add(computation);
    const { number, firstId, size, submitted, client, code } = computation;
    this.#add('computations', { number, first_id: firstId, size, submitted, client, code });
    for (let id = 0; id < size; ) {
      id = this.#edges.add(computation, id, this.#rows);
      if (this.#edges.length >= this.#rows) this.#flushTable('dependencies');
    }
  }

  tasksEnded(runs: TaskRuns): void {
    // An observer that came late meets a computation with its first runs.
    this.computationAdded(runs.computation);
    for (let from = 0; from < runs.count; ) {
      from = this.#tasks.add(runs, from);
      if (this.#tasks.length >= this.#rows) this.flush();
    }
  }

  workerAdded(worker: WorkerInfo): void {
    const { index, name, address, host, pid, threads, memoryLimit, startTime } = worker;
    const row = {
      index,
      name,
      address,
      host,
      pid,
      threads,
      memory_limit: memoryLimit,
      started: startTime,
      stopped: Number.NaN,
      reason: null,
    };
    this.#workers.set(index, row);
    this.#add('workers', row);
  }

  workerRemoved(worker: WorkerInfo, time: number, reason: string): void {
    if (!this.#workers.has(worker.index)) this.workerAdded(worker);
    const row = this.#workers.get(worker.index);
    if (row !== undefined) this.#add('workers', { ...row, stopped: time, reason });
    this.#workers.delete(worker.index);
  }

  interval({ worker, thread, action, start, stop, task, nbytes }: WorkInterval): void {
    this.#add('intervals', { worker, thread, action, start, stop, task, nbytes });
  }

  transfer(transfer: Transfer): void {
    const { worker, peer, direction, what, keys, nbytes, compressed, start, stop } = transfer;
    this.#add('transfers', { worker, peer, direction, what, keys, nbytes, compressed, start, stop });
  }

  memory({ time, worker, managed, unmanaged, spilled, process, tasks }: MemorySample): void {
    this.#add('memory', { time, worker, managed, unmanaged, spilled, process, tasks });
  }

  resources(sample: ResourceSample): void {
    const figures = figuresOf(sample);
    const of = (name: string): number => figures.get(name) ?? Number.NaN;
    const others = [...figures].filter(([name]) => !FIGURE_COLUMNS.includes(name));
    this.#add('resources', {
      time: sample.time,
      worker: sample.worker,
      cpu: of('cpu'),
      rss: of('rss'),
      heap: of('heap'),
      external: of('external'),
      eventLoopDelay: of('eventLoopDelay'),
      event_loop_utilization: of('event_loop_utilization'),
      host_cpu: of('host_cpu'),
      'host_net_io.read_bps': of('host_net_io.read_bps'),
      'host_net_io.write_bps': of('host_net_io.write_bps'),
      'host_disk_io.read_bps': of('host_disk_io.read_bps'),
      'host_disk_io.write_bps': of('host_disk_io.write_bps'),
      'disk_io.read_bps': of('disk_io.read_bps'),
      'disk_io.write_bps': of('disk_io.write_bps'),
      num_fds: of('num_fds'),
      gpu_utilization: of('gpu_utilization'),
      gpu_memory_used: of('gpu_memory_used'),
      others: others.length === 0 ? null : JSON.stringify(Object.fromEntries(others)),
    });
  }

  metric({ time, worker, context, span, prefix, activity, unit, value }: MetricSample): void {
    this.#add('metrics', { time, worker, context, span, prefix, activity, unit, value });
  }

  profile(worker: number, cycle: ProfileCycle, kindOf: KindOf): void {
    for (const [row, frames] of cycleSamples(worker, cycle, kindOf)) {
      for (const frame of frames) this.frame(frame);
      this.sample(row);
    }
  }

  /** A frame of later samples; callers come first. Told once. */
  frame({ id, parent, functionName, file, line }: FrameFacts): void {
    if (this.#frames.has(id)) return;
    if (this.#frames.size >= MAX_FRAMES) this.#frames.clear();
    this.#frames.add(id);
    this.#add('frames', { id, parent, function: functionName, file, line });
  }

  /** Its frame has been told before. */
  sample({ time, worker, thread, task, prefix, span, frame, line, count, interval }: SampleFacts): void {
    this.#add('samples', {
      time,
      worker,
      thread,
      task,
      prefix: prefix === '' ? null : prefix,
      span: span === '' ? null : span,
      frame,
      line,
      count,
      interval,
    });
  }

  /** Somebody reads from here on who may not know the frames of before: they are told again. */
  retellFrames(): void {
    this.#frames.clear();
  }

  event({ time, worker, topic, text }: ClusterEvent): void {
    this.#add('events', { time, worker, topic, text });
  }
}

/** Edges until they are written as a batch. */
class EdgeBatch {
  readonly #encoder: ArrowEncoder;
  readonly #task = new Float64Column();
  readonly #dependency = new Float64Column();

  constructor(codec: ArrowCodec | undefined) {
    this.#encoder = new ArrowEncoder(fieldsOf('dependencies'), codec);
  }

  get length(): number {
    return this.#task.length;
  }

  /** The edges of tasks from local id `from` on, until there are `rows`; returns the task where it stopped. */
  add(computation: Computation, from: number, rows: number): number {
    const { firstId, size, dependencyOffsets, dependencies, externals } = computation;
    let id = from;
    for (; id < size && this.length < rows; id++) {
      const end = dependencyOffsets[id + 1]!;
      for (let i = dependencyOffsets[id]!; i < end; i++) {
        const local = dependencies[i]!;
        this.#task.push(firstId + id);
        this.#dependency.push(local < size ? firstId + local : externals[local - size]!);
      }
    }
    return id;
  }

  start(): Uint8Array[] {
    return this.#encoder.start();
  }

  end(): Uint8Array[] {
    return this.#encoder.end();
  }

  take(): Uint8Array[] {
    const { length } = this;
    const parts = this.#encoder.batch(length, [
      { type: 'int64', values: this.#task.values },
      { type: 'int64', values: this.#dependency.values },
    ]);
    this.#task.length = 0;
    this.#dependency.length = 0;
    return parts;
  }
}
