// What every view and analysis reads: one trace, whatever it came from: a run that still goes on, a trace directory, a file
// of DASF, a Chrome trace. A source leaves out what it does not know: -1 is an absent string, id or row, NaN an absent
// number. Columns that a source derives are made when they are first read, so what nobody asks for costs nothing.
import type { StringTable } from './stringTable.js';
import type { Texts } from './texts.js';
import type { TraceTotals } from './totals.js';

/**
 * One row per run of a task that ended, in the order in which the ends became known: a dependency stands before its
 * dependents, except in files that several recorders wrote. Times are seconds on the scheduler's clock since the epoch
 * (DASF: the clock of its recorder), bytes are bytes.
 */
export interface TaskRows {
  readonly length: number;
  /** Unique per task; several runs of one task have the same. From a file without ids: the id of the key. */
  readonly id: Float64Array;
  /** Id in `trace.keys`. */
  readonly key: Int32Array;
  /** The key without its token, as Dask splits it. */
  readonly prefix: Int32Array;
  /** Id in `trace.keys`. Of a tuple key its first element, e.g. `sum-1f3a`; of other keys the prefix. */
  readonly group: Int32Array;
  /** The function's real name: `_func_fit`, `mean_combine-partial`. */
  readonly functionName: Int32Array;
  /** The name as the recorder wrote it; DASF cuts it. -1 where it wrote none. */
  readonly recordedName: Int32Array;
  /** Names joined by ` / `, e.g. `Alice / load`; `default` outside any span. */
  readonly span: Int32Array;
  /** Index into `trace.computations`. */
  readonly computation: Int32Array;
  readonly host: Int32Array;
  /** Row of `trace.workers`. */
  readonly worker: Int32Array;
  /** Of the worker, 0, 1, 2, … */
  readonly thread: Int32Array;
  /** The device that the recorder named, e.g. the number of a GPU. DASF names none. */
  readonly device: Int32Array;
  /** Index into TASK_STATES: how the run ended. Files that do not say: memory. */
  readonly state: Uint8Array;
  /** 1 for the first run of a task. */
  readonly attempt: Uint8Array;
  /** The lifecycle: submitted ≤ ready ≤ dispatched ≤ received ≤ started ≤ stopped ≤ acknowledged. */
  readonly submitted: Float64Array;
  readonly ready: Float64Array;
  readonly dispatched: Float64Array;
  readonly received: Float64Array;
  readonly started: Float64Array;
  readonly stopped: Float64Array;
  readonly acknowledged: Float64Array;
  /** Seconds from started to stopped; as recorded where a file has durations. */
  readonly duration: Float64Array;
  /** Bytes of the result. */
  readonly nbytes: Float64Array;
  readonly resultType: Int32Array;
  readonly dtype: Int32Array;
  /** The shape as JSON, e.g. `[5000,2]`. */
  readonly shape: Int32Array;
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
export interface WorkerRows {
  readonly length: number;
  readonly name: Int32Array;
  readonly address: Int32Array;
  readonly host: Int32Array;
  readonly pid: Float64Array;
  readonly threads: Float64Array;
  /** Bytes; 0: no limit. */
  readonly memoryLimit: Float64Array;
  readonly started: Float64Array;
  /** NaN while it is there. */
  readonly stopped: Float64Array;
  /** Why it went. */
  readonly reason: Int32Array;
}

/** What one compute, submit or map burst added. */
export interface TraceComputation {
  /** 1, 2, 3, … */
  readonly number: number;
  /** Ids of its tasks are firstId, firstId + 1, … */
  readonly firstId: number;
  readonly size: number;
  /** When it was submitted. */
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
export interface IntervalRows {
  readonly length: number;
  readonly worker: Int32Array;
  readonly thread: Int32Array;
  /** Index into ACTIONS. */
  readonly action: Uint8Array;
  readonly start: Float64Array;
  readonly stop: Float64Array;
  /** Id of the task that it was for. */
  readonly task: Float64Array;
  readonly nbytes: Float64Array;
}

export const DIRECTIONS = ['incoming', 'outgoing'] as const;
export const TRANSFER_KINDS = ['gather-dep', 'get-data', 'gather', 'scatter'] as const;

/** One row per movement of data and side: a movement between two workers has two. */
export interface TransferRows {
  readonly length: number;
  readonly worker: Int32Array;
  /** The other side's row of `trace.workers`; -1: a client. */
  readonly peer: Int32Array;
  /** Index into DIRECTIONS. */
  readonly direction: Uint8Array;
  /** Index into TRANSFER_KINDS. */
  readonly what: Uint8Array;
  readonly nbytes: Float64Array;
  /** Bytes that travelled. */
  readonly compressed: Float64Array;
  readonly start: Float64Array;
  readonly stop: Float64Array;
  /** Keys of row `i`, ids in `trace.keys`: `keys[keyOffsets[i] .. keyOffsets[i + 1])`. */
  readonly keyOffsets: Int32Array;
  readonly keys: Int32Array;
}

/** One row per heartbeat of a worker (DASF: per change of what it holds). */
export interface MemoryRows {
  readonly length: number;
  readonly time: Float64Array;
  readonly host: Int32Array;
  readonly worker: Int32Array;
  /** Bytes of the results that the worker holds in memory. */
  readonly managed: Float64Array;
  readonly unmanaged: Float64Array;
  readonly spilled: Float64Array;
  /** Bytes of the process, or of the isolate and its results where workers are threads. */
  readonly process: Float64Array;
  /** Results that the worker holds in memory. */
  readonly tasks: Float64Array;
}

/** One row per sample of a host, or of one worker where `worker` is not -1. */
export interface ResourceRows {
  readonly length: number;
  readonly time: Float64Array;
  readonly host: Int32Array;
  readonly worker: Int32Array;
  readonly device: Int32Array;
  /** Percent; NaN where the sample has none. */
  readonly gpuUtilization: Float64Array;
  /** Bytes; NaN where the sample has none. */
  readonly gpuMemoryUsed: Float64Array;
  /**
   * The other figures by name; NaN where a sample has none. Of Longpole's own: `cpu` (percent of one core), `rss`, `heap`,
   * `external` (bytes), `eventLoopDelay` (seconds), `num_fds`, …; of DASF e.g. `memory`, `host_net_io.read_bps`.
   */
  readonly figures: ReadonlyMap<string, Float64Array>;
}

/** One row per change of a fine performance metric: the sum since the heartbeat before. */
export interface MetricRows {
  readonly length: number;
  readonly time: Float64Array;
  readonly worker: Int32Array;
  readonly context: Int32Array;
  readonly span: Int32Array;
  readonly prefix: Int32Array;
  readonly activity: Int32Array;
  readonly unit: Int32Array;
  readonly value: Float64Array;
}

/**
 * One row per frame: a function in one place of the call tree, reached from its caller `parent`. A row stands behind its
 * caller's.
 */
export interface FrameRows {
  readonly length: number;
  /** What files call the frame. */
  readonly id: Float64Array;
  /** Row of the caller; -1: it is the outermost. */
  readonly parent: Int32Array;
  readonly functionName: Int32Array;
  /** The user's own file where source maps name one; a URL that is no file, or an empty text for code of the engine. */
  readonly file: Int32Array;
  /** Where the function begins, from 1; 0: not known. */
  readonly line: Int32Array;
}

/**
 * What the statistical profiler saw, one row per sample. Samples of a thread that had nothing to do are not here. Older ones
 * are summed up: a row with a `count` above 1 stands for so many, its time is their mean, and it has no task.
 */
export interface SampleRows {
  readonly length: number;
  readonly time: Float64Array;
  /** -1: the scheduler's own thread. */
  readonly worker: Int32Array;
  readonly thread: Int32Array;
  /** Id of the task that ran; -1: none, or several. */
  readonly task: Float64Array;
  /** Of the task's key, and its span; -1 outside tasks. */
  readonly prefix: Int32Array;
  readonly span: Int32Array;
  /** Row of the innermost frame; -1: not known. */
  readonly frame: Int32Array;
  /** The line that ran, from 1; 0: not known. */
  readonly line: Int32Array;
  /** Samples that the row stands for. */
  readonly count: Float64Array;
  /** Seconds between two samples: what each of them is worth. */
  readonly interval: Float64Array;
}

/** Anything else on the time axis. */
export interface EventRows {
  readonly length: number;
  readonly time: Float64Array;
  /** -1: the scheduler. */
  readonly worker: Int32Array;
  readonly topic: Int32Array;
  readonly text: Int32Array;
}

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

/** Tables of rows that grow while a program runs. */
export const TABLES = [
  'tasks',
  'intervals',
  'transfers',
  'memory',
  'resources',
  'metrics',
  'samples',
  'events',
] as const;
export type TableName = (typeof TABLES)[number];

export const NO_ROWS: Readonly<Record<TableName, number>> = {
  tasks: 0,
  intervals: 0,
  transfers: 0,
  memory: 0,
  resources: 0,
  metrics: 0,
  samples: 0,
  events: 0,
};

/** Rows of each table that a live trace has let go, oldest first; 0 in files. Samples are summed up, not let go. */
export type RowsLetGo = Readonly<Record<TableName, number>>;

export const NOTHING_LET_GO: RowsLetGo = NO_ROWS;

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
  readonly letGo: RowsLetGo;
  /** Events in files of DASF, those included that have no table; rows of all tables elsewhere. */
  readonly eventCount: number;
  /** Undefined if everything could be read. */
  readonly damage: TraceDamage | undefined;
}
