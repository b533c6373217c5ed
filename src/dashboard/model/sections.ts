// The columns from which plots are made. `traceModel` takes them out of a trace.

/** A list of strings, e.g. an array, or a table that decodes on demand. */
export interface StringList {
  readonly length: number;
  at(index: number): string | undefined;
}

/** Properties of each task. Sections refer to a task by its row in this table. */
export interface TaskTable {
  /** Row → key, spelled as in the graph. */
  readonly keys: StringList;
  /** Row → index into `prefixes`. */
  readonly prefix: Uint32Array;
  /** Distinct prefixes, e.g. `inc`. Tasks with the same prefix share a colour. */
  readonly prefixes: StringList;
  /** Row → the call, e.g. `inc(41)`; empty if unknown. */
  readonly texts: StringList;
}

/** Runs: entry i is one run of one task. Entries have any order; all columns have the same length. */
export interface TaskSection {
  /** Row of the task table. */
  readonly task: Uint32Array;
  /** Index into `workers` of the page. */
  readonly worker: Uint32Array;
  /** Seconds since the epoch, finite. */
  readonly start: Float64Array;
  /** Seconds since the epoch, finite; not before `start`. */
  readonly stop: Float64Array;
}

/** Cached results: entry i is one period of a result in the cache. Entries have any order. */
export interface CacheSection {
  /** Name of the metric, e.g. `count`. Values of `nbytes` and `bytes` are shown as byte sizes. */
  readonly metricName: string;
  /** Row of the task table; -1 if the page does not show the task. */
  readonly task: Int32Array;
  /** Index into `prefixes` of the task table. */
  readonly prefix: Uint32Array;
  /** Seconds since the epoch, finite. */
  readonly cacheTime: Float64Array;
  /** Seconds since the epoch, finite; not before `cacheTime`. */
  readonly freeTime: Float64Array;
  /** The metric of the result, finite. */
  readonly metric: Float64Array;
}

export interface SectionPage {
  /** Heading of the page, as text and never as HTML. */
  readonly title: string;
  /** Names of the rows of task streams, e.g. `threads-0`. */
  readonly workers: StringList;
  readonly tasks: TaskTable;
  /** Undefined before the first rows have arrived. */
  readonly stream: TaskSection | undefined;
  readonly caches: readonly CacheSection[];
}
