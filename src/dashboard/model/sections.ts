// The columns from which plots are made. `traceModel` takes them out of a trace.
import type { CacheStays } from '../../trace/localMetrics.js';

/** A list of strings, e.g. an array, or a table that decodes on demand. */
export interface StringList {
  readonly length: number;
  at(index: number): string | undefined;
}

/** Properties of each task. Sections refer to a task by its row in this table. */
interface TaskTable {
  /** Row → key, spelled as in the graph. */
  readonly keys: StringList;
  /** Row → index into `prefixes`. */
  readonly prefix: Uint32Array;
  /** Distinct prefixes, e.g. `inc`. Tasks with the same prefix share a colour. */
  readonly prefixes: readonly string[];
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

/** Cached results: entry i is one period of a result in the cache. Values of `nbytes` and `bytes` are byte sizes. */
export interface CacheSection extends Omit<CacheStays, 'task' | 'prefix'> {
  /** Row of the task table; -1 if the page does not show the task. */
  readonly task: Int32Array;
  /** Index into `prefixes` of the task table. */
  readonly prefix: Uint32Array;
}

export interface SectionPage {
  /** Heading of the page, as text and never as HTML. */
  readonly title: string;
  /** Names of the rows of task streams, e.g. `threads-0`. */
  readonly workers: readonly string[];
  readonly tasks: TaskTable;
  /** Undefined before the first rows have arrived. */
  readonly stream: TaskSection | undefined;
  readonly caches: readonly CacheSection[];
}
