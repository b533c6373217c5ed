// What every analysis reads: columns of a trace that was opened. Strings are ids of one table; -1 is an absent string,
// NaN an absent number. Rows stand in the order of the file.
import type { StringTable } from './stringTable.js';

/** One row per task that ran. Times are seconds on the clock of the recorder, bytes are bytes. */
export interface TaskRows {
  readonly length: number;
  readonly key: Int32Array;
  /** The function's real name, from the key: `_func_fit`, `mean_combine-partial`. */
  readonly functionName: Int32Array;
  /** The name as the recorder wrote it; DASF cuts it. -1 where it wrote none. */
  readonly recordedName: Int32Array;
  readonly host: Int32Array;
  readonly worker: Int32Array;
  /** The device that the recorder named, e.g. the number of a GPU. DASF names none. */
  readonly device: Int32Array;
  readonly stop: Float64Array;
  /** Seconds. The task started at `stop - duration`. */
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
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
}

/** One row per change of a worker's managed memory. */
export interface MemoryRows {
  readonly length: number;
  readonly time: Float64Array;
  readonly host: Int32Array;
  readonly worker: Int32Array;
  /** Bytes that the worker holds. */
  readonly nbytes: Float64Array;
  /** Results that the worker holds. */
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
  /** The other figures by name, e.g. `cpu`, `memory`, `host_net_io.read_bps`, `num_fds`; NaN where a sample has none. */
  readonly figures: ReadonlyMap<string, Float64Array>;
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

/** A trace in memory, closed. Made by the readers; analyses are functions of it. */
export interface Trace {
  readonly strings: StringTable;
  readonly tasks: TaskRows;
  readonly memory: MemoryRows;
  readonly resources: ResourceRows;
  /** Events in the files, those included that have no table of their own. */
  readonly events: number;
  /** Undefined if everything could be read. */
  readonly damage: TraceDamage | undefined;
}
