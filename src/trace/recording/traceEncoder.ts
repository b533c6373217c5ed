// Encodes the tables of a trace. As an observer of a cluster it encodes the events of an engine, for recordings. For
// pages, reports and exports it encodes the rows of a live or opened trace. It holds at most one batch of each table,
// so memory stays bounded in recordings of any length.
import type { Float64Column } from '../../base/columns.js';
import { once, recordOf } from '../../base/lookUps.js';
import { joinedBytes } from '../../base/resized.js';
import type {
  ClusterEvent,
  ClusterObserver,
  Computation,
  MemorySample,
  MetricSample,
  ProfileCycle,
  ResourceSample,
  TaskRuns,
  Transfer,
  WorkerInfo,
  WorkInterval,
} from '../../protocol/clusterObserver.js';
import type { KindOf } from '../../protocol/metrics.js';
import { fileColumns, RECORDED_TABLES, type RecordedTable } from '../../protocol/traceSchema.js';
import { ArrowEncoder } from '../formats/arrow/arrowEncoder.js';
import type { ArrowCodec, ArrowValues } from '../formats/arrow/arrowMessages.js';
import { addDependencies } from '../live/taskPages.js';
import { cycleSamples } from '../samples/cycleSamples.js';
import { type FrameFacts, frameFactsAt, type SampleFacts } from '../samples/sampleRows.js';
import { figuresOf } from '../tableBuilders.js';
import type { Trace, TraceComputation } from '../trace.js';
import { type ComputationEdges, EdgeBatch, RowBatch } from './rowBatch.js';
import { TaskBatch } from './taskBatch.js';
import { tableSource } from './traceColumns.js';
import { fieldsOf } from './traceMeta.js';

/**
 * Receives the bytes of a table in order, and the number of their rows. Copy the bytes to keep them, because the arrays
 * are reused.
 */
export type TableSink = (table: RecordedTable, parts: readonly Uint8Array[], rows: number) => void;

export interface TraceEncoderOptions {
  /** Compression of the columns. Default: none. */
  readonly codec?: ArrowCodec;
  /** Rows of a batch. Default 16,384. */
  readonly batchRows?: number;
  /** Whether every batch contains its dictionaries, so that a reader may miss earlier batches. Default false. */
  readonly standalone?: boolean;
}

export type LiveComputationRow = ComputationEdges &
  Pick<TraceComputation, 'number' | 'start' | 'prepared' | 'client' | 'code'>;

interface Batch {
  readonly length: number;
  values(): ArrowValues[];
  clear(): void;
}

const BATCH_ROWS = 16_384;
/** Rows of a standalone batch of events, whose texts may be long. */
const BATCH_EVENTS = 256;
/** Limit for the set of written frames, some 10 MB. Beyond it frames are written again. */
const MAX_FRAMES = 200_000;

const FIGURES = fileColumns('resources').filter(({ name }) => name !== 'time' && name !== 'worker');

export class TraceEncoder implements ClusterObserver {
  readonly #sink: TableSink;
  readonly #rows: number;
  readonly #standalone: boolean;
  readonly #encoders: Readonly<Record<RecordedTable, ArrowEncoder>>;
  readonly #tasks: () => TaskBatch;
  readonly #edges = new EdgeBatch();
  readonly #batches = recordOf(RECORDED_TABLES, (table) => new RowBatch(table));
  readonly #seen = new WeakSet<Computation>();
  /** Ids of the frames that were written. */
  readonly #frames = new Set<number>();
  readonly #workers = new Map<number, object>();
  /** Samples before this time are not written. Seconds since the epoch. */
  samplesFrom = Number.NEGATIVE_INFINITY;

  readonly interval = (row: WorkInterval): void => this.#add('intervals', row);
  readonly transfer = (row: Transfer): void => this.#add('transfers', row);
  readonly memory = (row: MemorySample): void => this.#add('memory', row);
  readonly metric = (row: MetricSample): void => this.#add('metrics', row);
  readonly event = (row: ClusterEvent): void => this.#add('events', row);

  constructor(
    sink: TableSink,
    { codec, batchRows = BATCH_ROWS, standalone = false }: TraceEncoderOptions = {},
  ) {
    this.#sink = sink;
    this.#rows = batchRows;
    this.#standalone = standalone;
    this.#encoders = recordOf(
      RECORDED_TABLES,
      (table) => new ArrowEncoder(fieldsOf(table), codec, standalone),
    );
    this.#tasks = once(() => new TaskBatch(batchRows));
  }

  /** Writes the schema of every stream. Call this first. */
  start(): void {
    for (const table of RECORDED_TABLES) this.#sink(table, this.#encoders[table].start(), 0);
  }

  flush(): void {
    for (const table of RECORDED_TABLES) this.#flushTable(table);
  }

  /** Writes the remaining rows and ends the streams. */
  end(): void {
    this.flush();
    for (const table of RECORDED_TABLES) this.#sink(table, this.#encoders[table].end(), 0);
  }

  #batch(table: RecordedTable): Batch {
    if (table === 'tasks') return this.#tasks();
    return table === 'dependencies' ? this.#edges : this.#batches[table];
  }

  #flushTable(table: RecordedTable): void {
    // Frames come before the samples that refer to them.
    if (table === 'samples') this.#flushTable('frames');
    const batch = this.#batch(table);
    if (batch.length === 0) return;
    this.#write(table, batch.length, batch.values());
    batch.clear();
  }

  #write(table: RecordedTable, rows: number, values: readonly ArrowValues[]): void {
    this.#sink(table, this.#encoders[table].batch(rows, values), rows);
  }

  #add(table: RecordedTable, row: object): void {
    const batch = this.#batches[table];
    batch.add(row);
    if (batch.length >= this.#rows) this.#flushTable(table);
  }

  /** Writes the rows of a table of `trace`; yields after each batch. See SourceOptions for `ownFrameIds`. */
  *rows(trace: Trace, table: RecordedTable, ownFrameIds = false): Generator<undefined> {
    const options = { standalone: this.#standalone, ownFrameIds };
    const { rows, columns } = tableSource(trace, table, options);
    const step = this.#standalone && table === 'events' ? BATCH_EVENTS : this.#rows;
    for (let from = 0; from < rows; from += step) {
      const to = Math.min(rows, from + step);
      this.#write(
        table,
        to - from,
        columns.map((column) => column(from, to)),
      );
      yield;
    }
  }

  /** Writes computations of a live trace; yields after each batch of their edges. */
  *liveComputations(list: readonly LiveComputationRow[]): Generator<undefined> {
    for (const { firstId, start, prepared = Number.NaN, ...facts } of list)
      this.#add('computations', { ...facts, first_id: firstId, submitted: start, prepared });
    this.#flushTable('computations');
    for (const computation of list) {
      for (let id = 0; id < computation.size; ) {
        id = this.#edges.add(computation, id, this.#rows);
        if (this.#edges.length < this.#rows) continue;
        this.#flushTable('dependencies');
        yield;
      }
    }
    this.#flushTable('dependencies');
  }

  /** Writes runs of tasks of a live trace; yields after each batch. Cheaper than `rows`. */
  *liveRuns(batches: Iterable<TaskRuns>): Generator<undefined> {
    const batch = this.#tasks();
    for (const runs of batches) {
      for (let from = 0; from < runs.count; ) {
        from = batch.add(runs, from);
        if (batch.length < this.#rows) continue;
        this.#flushTable('tasks');
        yield;
      }
    }
    this.#flushTable('tasks');
  }

  /**
   * Writes the other tables of a live trace; yields after each batch. Transfers are given as reported, because their
   * rows would need the table of all keys. Only frames of these samples that were not written before are written.
   */
  *liveRows(trace: Trace, transfers: readonly Transfer[]): Generator<undefined> {
    for (const transfer of transfers) this.transfer(transfer);
    this.#flushTable('transfers');
    const { frames, samples, strings } = trace;
    for (const innermost of samples.frame) {
      const path: number[] = [];
      for (let at = innermost; at >= 0; at = frames.parent[at]!) path.push(at);
      for (const at of path.reverse())
        if (!this.#frames.has(frames.id[at]!)) this.frame(frameFactsAt(frames, at, strings));
    }
    this.#flushTable('frames');
    for (const table of ['intervals', 'memory', 'resources', 'metrics', 'samples', 'events'] as const)
      yield* this.rows(trace, table, true);
  }

  computationAdded(computation: Computation): void {
    if (this.#seen.has(computation)) return;
    this.#seen.add(computation);
    const { firstId, size, called, prepared = Number.NaN, submitted } = computation;
    this.#add('computations', {
      ...computation,
      first_id: firstId,
      submitted: called ?? submitted,
      prepared,
    });
    const page = {
      addDependencies: (slot: number, to: Float64Column) => addDependencies(computation, slot, to),
    };
    for (let id = 0; id < size; ) {
      id = this.#edges.add({ firstId, size, page, slot: 0 }, id, this.#rows);
      if (this.#edges.length >= this.#rows) this.#flushTable('dependencies');
    }
  }

  tasksEnded(runs: TaskRuns): void {
    // The first runs may be the first event about a computation, if the observer was added late.
    this.computationAdded(runs.computation);
    const batch = this.#tasks();
    for (let from = 0; from < runs.count; ) {
      from = batch.add(runs, from);
      if (batch.length >= this.#rows) this.flush();
    }
  }

  workerAdded(worker: WorkerInfo): void {
    const row = { ...worker, started: worker.startTime };
    this.#workers.set(worker.index, row);
    this.#add('workers', row);
  }

  workerRemoved(worker: WorkerInfo, time: number, reason: string): void {
    if (!this.#workers.has(worker.index)) this.workerAdded(worker);
    this.#add('workers', { ...this.#workers.get(worker.index), stopped: time, reason });
    this.#workers.delete(worker.index);
  }

  resources(sample: ResourceSample): void {
    const { time, worker } = sample;
    const figures = figuresOf(sample);
    const row: Record<string, unknown> = { time, worker };
    for (const { name, title } of FIGURES) {
      row[name] = figures.get(title);
      figures.delete(title);
    }
    if (figures.size > 0) row['others'] = JSON.stringify(Object.fromEntries(figures));
    this.#add('resources', row);
  }

  profile(worker: number, cycle: ProfileCycle, kindOf: KindOf): void {
    for (const [row, frames] of cycleSamples(worker, cycle, kindOf)) {
      for (const frame of frames) this.frame(frame);
      if (row.time >= this.samplesFrom) this.sample(row);
    }
  }

  /** Writes a frame before its samples, once. Write the caller first. */
  frame(frame: FrameFacts): void {
    if (this.#frames.has(frame.id)) return;
    if (this.#frames.size >= MAX_FRAMES) this.#frames.clear();
    this.#frames.add(frame.id);
    this.#add('frames', frame);
  }

  /** Writes a sample whose frame was written before. */
  sample(row: SampleFacts): void {
    const known = (text: string): string | undefined => (text === '' ? undefined : text);
    this.#add('samples', { ...row, prefix: known(row.prefix), span: known(row.span) });
  }

  /** Makes later samples write their frames again, for a new reader. */
  repeatFrames(): void {
    this.#frames.clear();
  }
}

/**
 * Rows of a batch when a whole table is encoded. Large batches compress better; one column of a batch is some 0.5 MB.
 */
const WHOLE_TABLE_ROWS = 1 << 16;

export function encodeTables(trace: Trace): ReadonlyMap<RecordedTable, Uint8Array> {
  const parts = recordOf(RECORDED_TABLES, (): Uint8Array[] => []);
  const encoder = new TraceEncoder((table, bytes) => parts[table].push(...bytes), {
    batchRows: WHOLE_TABLE_ROWS,
  });
  encoder.start();
  for (const table of RECORDED_TABLES) for (const _ of encoder.rows(trace, table));
  encoder.end();
  return new Map(RECORDED_TABLES.map((table) => [table, joinedBytes(parts[table])]));
}
