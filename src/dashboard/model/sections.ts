// The columns from which plots are made. `traceModel` takes them out of a trace.
import type { TimeWindow } from './timeView.js';

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

/** Returns whether an entry is a later part of the run before it. A seceded task has entries before and after its wait. */
export function isLaterPart({ task }: Pick<TaskSection, 'task'>, entry: number): boolean {
  return entry > 0 && task[entry] === task[entry - 1];
}

/** A time span of a seceded task, in which it used its thread for a part of the time. */
export interface PartialUse {
  /** Index of the thread's row among the workers of the page. */
  readonly worker: number;
  readonly prefix: number;
  readonly start: number;
  readonly stop: number;
  /** Used share of the span; minus 1 if the span is drawn, because the drawn run counts as a whole. */
  readonly share: number;
}

/** Cached results: entry i is one period of a result in the cache. Values of `nbytes` and `bytes` are byte sizes. */
export interface CacheSection {
  /** Name of the metric, e.g. `count` or `nbytes`. */
  readonly metricName: string;
  /** Row of the task table; -1 if the page does not show the task. */
  readonly task: Int32Array;
  /** Index into `prefixes` of the task table. */
  readonly prefix: Uint32Array;
  /** Seconds since the epoch. */
  readonly cacheTime: Float64Array;
  readonly freeTime: Float64Array;
  readonly metric: Float64Array;
}

export interface SectionPage {
  /** Heading of the page, as text and never as HTML. */
  readonly title: string;
  /** The rows of the task stream, e.g. `threads-0`, and when they existed, in epoch seconds. */
  readonly workers: readonly { readonly name: string; readonly life: TimeWindow }[];
  readonly tasks: TaskTable;
  /** Distinct prefixes, e.g. `inc`, and their colours. */
  readonly prefixes: readonly { readonly name: string; readonly slot: number }[];
  readonly stream: TaskSection;
  /** Returns whether an entry of the stream is an activity of workers, not a task. */
  readonly isActivity: (entry: number) => boolean;
  /** Times of seceded tasks, in epoch seconds, that the entries of the stream do not represent exactly. */
  readonly partial: readonly PartialUse[];
  readonly caches: readonly CacheSection[];
  /** Epoch seconds of time 0. Default: the first event. */
  readonly origin?: number | undefined;
  /** Returns the window without work, in epoch seconds. */
  readonly fallback: () => TimeWindow;
  /** Epoch seconds. Default: from the first task to the last; without tasks, all events. */
  readonly run?: TimeWindow | undefined;
}
