// The rows that plots are made of, as columns: what `traceModel` takes out of a trace for the page.

/** A list of strings that need not be an array: arrays are one, and so is a table that decodes on demand. */
export interface StringList {
  readonly length: number;
  at(index: number): string | undefined;
}

/** What is known of each task apart from its runs. Sections refer to a task by its row here. */
export interface TaskTable {
  /** Row → key, spelled as in the graph. */
  readonly keys: StringList;
  /** Row → index into `prefixes`. */
  readonly prefix: Uint32Array;
  /** Distinct prefixes, e.g. `inc`: the group that shares a colour. */
  readonly prefixes: StringList;
  /** Row → the task for people, e.g. `inc(41)`; empty where it is not known. */
  readonly texts: StringList;
}

/** Entry i is one run of one task. Any order. All columns have the same length. */
export interface TaskSection {
  readonly type: 'tasks';
  /** Row of the task table. */
  readonly task: Uint32Array;
  /** Index into `workers` of the page. */
  readonly worker: Uint32Array;
  /** Seconds since the epoch, finite. */
  readonly start: Float64Array;
  /** Seconds since the epoch, finite; not before `start`. */
  readonly stop: Float64Array;
}

/** Entry i is one result's stay in the cache. Any order. */
export interface CacheSection {
  readonly type: 'cache';
  /** Name of the metric, e.g. `count`, `nbytes`. `nbytes` and `bytes` are shown as byte sizes. */
  readonly metricName: string;
  /** Row of the task table; -1: the page does not show the task. */
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

export type Section = TaskSection | CacheSection;

/** What the plots of all pages are made from. */
export interface SectionPage {
  /** Heading of the page. Text, never HTML. */
  readonly title: string;
  /** Names of the rows of task streams, e.g. `threads-0`. */
  readonly workers: StringList;
  readonly tasks: TaskTable;
  readonly sections: readonly Section[];
}
