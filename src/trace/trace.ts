// The data that every view and analysis reads: a live run, a trace directory, a file of DASF or a Chrome trace. An
// unknown string, id or row is -1; an unknown number is NaN. Derived columns are made on first use, so unused columns
// cost nothing.
import { recordOf } from '../base/recordOf.js';
import type { TraceDamage } from '../protocol/traceDamage.js';
import { GROWING_TABLES, type TableRows } from '../protocol/traceSchema.js';
import type { StringTable } from './stringTable.js';
import type { Texts } from './texts.js';
import type { TraceTotals } from './totals.js';

/**
 * Completed runs of tasks, one per row, in the order in which their completion was reported. A dependency stands before
 * its dependents, except in files of several recorders. Times are seconds since the epoch on the scheduler's clock
 * (DASF: on the recorder's clock); sizes are bytes. submitted ≤ ready ≤ dispatched ≤ received ≤ started ≤ stopped ≤
 * acknowledged.
 */
export interface TaskRows extends TableRows<'tasks'> {
  /** Keys of the dependencies of row `i`: `dependencies[dependencyOffsets[i] .. dependencyOffsets[i + 1])`. */
  readonly dependencyOffsets: Int32Array;
  readonly dependencies: Int32Array;
  /** Ids of the tasks in `dependencies`, as in `id`; -1 if the source lacks ids. */
  readonly dependencyIds: Float64Array;
  /**
   * Rows of the runs that made the results in `dependencies`; -1 if the trace lacks the run (scattered data, evicted
   * rows). If a task ran several times, the row is the latest one before the dependent row.
   */
  readonly dependencyRows: Int32Array;
  /** Keys of the dependents of row `i`, for recorders that write dependents (DASF). */
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  /** Returns the key of a row as text, without decoding other keys. */
  keyOf(row: number): string;
}

/** All workers of the run, including removed ones. */
export type WorkerRows = TableRows<'workers'>;

/** The tasks that one burst of `compute`, `submit` or `map` calls added. */
export interface TraceComputation {
  /** Number of the computation: 1, 2, 3, … */
  readonly number: number;
  /** Id of the first task; the ids of a computation are consecutive. */
  readonly firstId: number;
  readonly size: number;
  /** Time of the program's call, in seconds since the epoch. Tasks are submitted later, when their graph is compiled. */
  readonly start: number;
  /** Time at which the latest completion of a run was reported; NaN before the first one. */
  readonly stop: number;
  /** Keys of its tasks; in a recorded trace only of tasks that ran. */
  readonly keys: readonly string[];
  readonly client: string;
  /** Source lines of the program's call; empty if unknown. */
  readonly code: string;
}

/** Activities of workers other than the tasks' own code (`compute`), which is in `tasks`. */
export type IntervalRows = TableRows<'intervals'>;

/** Transfers, one row per side: a transfer between two workers has two rows. */
export type TransferRows = TableRows<'transfers'>;

/** Memory of workers, one row per heartbeat (DASF: per change of the stored results). */
export type MemoryRows = TableRows<'memory'>;

/** Samples of resource usage: of a worker, or of its host if `worker` is -1. */
export interface ResourceRows extends TableRows<'resources'> {
  /**
   * The other figures by name; NaN in samples without the figure. Longpole records `cpu` (percent of one core), `rss`,
   * `heap`, `external` (bytes), `eventLoopDelay` (seconds), `num_fds`, …; DASF e.g. `memory`, `host_net_io.read_bps`.
   */
  readonly figures: ReadonlyMap<string, Float64Array>;
}

/** Fine performance metrics, one row per change: the sum since the previous heartbeat. */
export type MetricRows = TableRows<'metrics'>;

/** Stack frames. A frame is a function in one place of the call tree; its row comes after the row of its caller. */
export type FrameRows = TableRows<'frames'>;

/**
 * Samples of the statistical profiler, without samples of idle threads. Older samples are summed: a row with a `count`
 * above 1 stands for `count` samples. Its time is their mean, and it has no task.
 */
export type SampleRows = TableRows<'samples'>;

/** Other events with a time. */
export type EventRows = TableRows<'events'>;

export { DIRECTIONS, TRANSFER_KINDS } from '../protocol/traceNames.js';
export type { TraceDamage };

/** Name of a table that grows while a program runs. */
export type TableName = (typeof GROWING_TABLES)[number];

export const NO_ROWS: Readonly<Record<TableName, number>> = recordOf(GROWING_TABLES, () => 0);

/**
 * Evicted rows of a live trace, by table; the oldest rows are evicted first. 0 in files, and 0 for samples, which are
 * summed instead.
 */
export type EvictedRows = Readonly<Record<TableName, number>>;

export const NOTHING_EVICTED: EvictedRows = NO_ROWS;

/** What was recorded, for the headings of pages. */
export interface TraceAbout {
  /** E.g. the program and its arguments; '' if unknown. */
  readonly title: string;
  /** Facts by name, e.g. `Node` → `v20.19.0`. */
  readonly facts: Readonly<Record<string, string>>;
}

/** An immutable trace; a live trace returns a new one as it grows. Analyses are functions of a trace. */
export interface Trace {
  /** All texts except keys and groups. */
  readonly strings: StringTable;
  /**
   * Keys and groups of tasks. In DASF's traces this table is `strings`. A live trace makes the table on first use,
   * which costs some 0.3 µs a row; `tasks.keyOf` does not need the table.
   */
  readonly keys: Texts;
  readonly workers: WorkerRows;
  /** Computations; the newest is the last. */
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
  /** Sums over the whole run, including evicted rows. */
  readonly totals: TraceTotals;
  readonly evicted: EvictedRows;
  /** Number of events in a file of DASF, including events without a table; in other traces the number of rows. */
  readonly eventCount: number;
  /** Damage to the file; undefined if everything could be read. */
  readonly damage: TraceDamage | undefined;
  /** Absent in live traces, and in files of other programs. */
  readonly about?: TraceAbout;
}
