// What every view and analysis reads: one trace, whatever it came from: a run that still goes on, a trace directory, a file
// of DASF, a Chrome trace. A source leaves out what it does not know: -1 is an absent string, id or row, NaN an absent
// number. Columns that a source derives are made when they are first read, so what nobody asks for costs nothing.
import { recordOf } from '../base/recordOf.js';
import { GROWING_TABLES, type TableRows } from '../protocol/traceSchema.js';
import type { StringTable } from './stringTable.js';
import type { Texts } from './texts.js';
import type { TraceTotals } from './totals.js';

/**
 * One row per run of a task that ended, in the order in which the ends became known: a dependency stands before its
 * dependents, except in files that several recorders wrote. Times are seconds on the scheduler's clock since the epoch
 * (DASF: the clock of its recorder), bytes are bytes. submitted ≤ ready ≤ dispatched ≤ received ≤ started ≤ stopped ≤ acknowledged.
 */
export interface TaskRows extends TableRows<'tasks'> {
  /** Keys that row `i` needed: `dependencies[dependencyOffsets[i] .. dependencyOffsets[i + 1])`. */
  readonly dependencyOffsets: Int32Array;
  readonly dependencies: Int32Array;
  /** Beside `dependencies`: the ids of the tasks, as in `id`; -1 if the source does not know them. */
  readonly dependencyIds: Float64Array;
  /**
   * Beside `dependencies`: the row of the run that made the result, -1 if the trace does not hold it (scattered data, rows
   * let go). Of several runs of a task the latest before the row that needed it, in the order of rows.
   */
  readonly dependencyRows: Int32Array;
  /** Keys that named this one as a dependency, where the recorder wrote this side of an edge, too (DASF). */
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  /** The key of a row as text, without making all keys. */
  keyOf(row: number): string;
}

/** Every worker that was ever there. */
export type WorkerRows = TableRows<'workers'>;

/** What one compute, submit or map burst added. */
export interface TraceComputation {
  /** 1, 2, 3, … */
  readonly number: number;
  /** Ids of its tasks are firstId, firstId + 1, … */
  readonly firstId: number;
  readonly size: number;
  /** When the program began to ask for it: its tasks are submitted when their graph is compiled. */
  readonly start: number;
  /** When the last of its runs so far was acknowledged; NaN before the first. */
  readonly stop: number;
  /** Of its tasks. In a recorded trace those of which a run ended. */
  readonly keys: readonly string[];
  readonly client: string;
  /** The lines of the program that asked for it; empty: not known. */
  readonly code: string;
}

/** What workers did beside the tasks' own code: `compute` is not here, the tasks are. */
export type IntervalRows = TableRows<'intervals'>;

/** One row per movement of data and side: a movement between two workers has two. */
export type TransferRows = TableRows<'transfers'>;

/** One row per heartbeat of a worker (DASF: per change of what it holds). */
export type MemoryRows = TableRows<'memory'>;

/** One row per sample of a host, or of one worker where `worker` is not -1. */
export interface ResourceRows extends TableRows<'resources'> {
  /**
   * The other figures by name; NaN where a sample has none. Of Longpole's own: `cpu` (percent of one core), `rss`, `heap`,
   * `external` (bytes), `eventLoopDelay` (seconds), `num_fds`, …; of DASF e.g. `memory`, `host_net_io.read_bps`.
   */
  readonly figures: ReadonlyMap<string, Float64Array>;
}

/** One row per change of a fine performance metric: the sum since the heartbeat before. */
export type MetricRows = TableRows<'metrics'>;

/** One row per frame: a function in one place of the call tree. A row stands behind its caller's. */
export type FrameRows = TableRows<'frames'>;

/**
 * What the statistical profiler saw, one row per sample. Samples of a thread that had nothing to do are not here. Older ones
 * are summed up: a row with a `count` above 1 stands for so many, its time is their mean, and it has no task.
 */
export type SampleRows = TableRows<'samples'>;

/** Anything else on the time axis. */
export type EventRows = TableRows<'events'>;

/** What could not be read. */
export interface TraceDamage {
  /** Stretches that were left out. */
  readonly stretches: number;
  /** Bytes that were left out. */
  readonly bytes: number;
  /** Where the first stretch begins in its file, in bytes. */
  readonly offset: number;
  /** What was wrong with the first. */
  readonly reason: string;
}

export { DIRECTIONS, TRANSFER_KINDS } from '../protocol/traceSchema.js';

/** A table of rows that grow while a program runs. */
export type TableName = (typeof GROWING_TABLES)[number];

export const NO_ROWS: Readonly<Record<TableName, number>> = recordOf(GROWING_TABLES, () => 0);

/** Rows of each table that a live trace has let go, oldest first; 0 in files. Samples are summed up, not let go. */
export type EvictedRows = Readonly<Record<TableName, number>>;

export const NOTHING_EVICTED: EvictedRows = NO_ROWS;

/** A trace as it stands: rows never change, a live trace gives a new one as it grows. Analyses are functions of it. */
export interface Trace {
  /** All texts but keys and groups of keys. */
  readonly strings: StringTable;
  /**
   * Keys of tasks and their groups. DASF's traces have one table for both; a live trace makes this one when it is first
   * read, which costs some 0.3 µs a row: `tasks.keyOf` does not need it.
   */
  readonly keys: Texts;
  readonly workers: WorkerRows;
  /** Newest last. */
  readonly computations: readonly TraceComputation[];
  readonly tasks: TaskRows;
  readonly intervals: IntervalRows;
  readonly transfers: TransferRows;
  readonly memory: MemoryRows;
  readonly resources: ResourceRows;
  readonly metrics: MetricRows;
  readonly frames: FrameRows;
  readonly samples: SampleRows;
  readonly events: EventRows;
  /** Sums over the whole run, also over rows that were let go. */
  readonly totals: TraceTotals;
  readonly evicted: EvictedRows;
  /** Events in files of DASF, those included that have no table; rows of all tables elsewhere. */
  readonly eventCount: number;
  /** Undefined if everything could be read. */
  readonly damage: TraceDamage | undefined;
}
