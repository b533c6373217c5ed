// The data that every view and analysis reads: a live run, a trace directory, a file of DASF or a Chrome trace. An
// unknown string, id or row is -1; an unknown number is NaN. Derived columns are made on first use, so unused columns
// cost nothing.
import { oncePer, rangeOf, recordOf } from '../base/lookUps.js';
import { INSPECT } from '../base/printed.js';
import { sortedOrder } from '../base/sortedOrder.js';
import { countText, secondsText } from '../base/words.js';
import type { ClusterEvent } from '../protocol/clusterObserver.js';
import type { TraceDamage } from '../protocol/traceDamage.js';
import { GROWING_TABLES, type TableRows } from '../protocol/traceSchema.js';
import type { StringTable, Texts } from './stringTable.js';
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
  /**
   * End of the program's own time in a burst of calls: the last call, less the time of Longpole in all of them. Then Longpole
   * prepared the tasks until their submission. Absent or NaN if unknown.
   */
  readonly prepared?: number;
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

/** Returns the text of an id, or an empty text for an absent id. */
export function textOf(strings: Pick<Texts, 'get'>, id: number | undefined): string {
  return id === undefined || id < 0 ? '' : strings.get(id);
}

/** Returns the name of a worker for display. Later workers with the same name are called `name (2)`, `name (3)`, … */
export function workerName(trace: Trace, worker: number): string {
  if (worker < 0) return 'no worker';
  const name = trace.workers.name[worker] ?? -1;
  if (name < 0) return `worker ${worker}`;
  const number = incarnations(trace)[worker]!;
  return number > 1 ? `${trace.strings.get(name)} (${number})` : trace.strings.get(name);
}

/** Returns, by row of workers, how many workers of this name and host had joined up to this one. */
const incarnations = oncePer(({ workers }: Trace): Uint32Array => {
  const counts = new Map<string, number>();
  return Uint32Array.from(workers.name, (name, row) => {
    const id = `${workers.host[row]} ${name}`;
    const number = (counts.get(id) ?? 0) + 1;
    counts.set(id, number);
    return number;
  });
});

/** Yields the events with one of these topics, in the order of their rows. */
export function* eventsOf(
  { events, strings }: Pick<Trace, 'events' | 'strings'>,
  ...topics: readonly string[]
): Generator<ClusterEvent> {
  for (let row = 0; row < events.length; row++) {
    const topic = textOf(strings, events.topic[row]);
    if (!topics.includes(topic)) continue;
    const [time, worker] = [events.time[row]!, events.worker[row]!];
    yield { time, worker, topic, text: textOf(strings, events.text[row]) };
  }
}

/** Returns the rows of events, the newest first. Observers may report an event late, so rows are not in order of time. */
export function newestEvents({ events }: Trace): Int32Array {
  return sortedOrder(events.time, false).reverse();
}

/** Returns the newest events that mention a key, at most `most`, in order of time. Texts have at most `longest` characters. */
export function newestMentions(trace: Trace, key: string, most: number, longest: number) {
  const { events, strings } = trace;
  const lines: { row: number; time: number; topic: string; text: string }[] = [];
  for (const row of newestEvents(trace)) {
    if (lines.length === most) break;
    const text = textOf(strings, events.text[row]);
    if (!mentions(text, key)) continue;
    const topic = textOf(strings, events.topic[row]);
    lines.push({ row, time: events.time[row]!, topic, text: text.slice(0, longest) });
  }
  return lines.reverse();
}

/** Returns whether a text contains a key as a separate word. */
function mentions(text: string, key: string): boolean {
  const isPart = (letter: string | undefined): boolean => letter !== undefined && /[\w-]/.test(letter);
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + 1))
    if (key !== '' && !isPart(text[at - 1]) && !isPart(text[at + key.length])) return true;
  return false;
}

export function lastRowOf(tasks: TaskRows, matches: (key: string) => boolean): number | undefined {
  for (let row = tasks.length - 1; row >= 0; row--) if (matches(tasks.keyOf(row))) return row;
  return undefined;
}

/** Returns the rows of the runs that made the inputs of a task; -1 for runs that the trace lacks. */
export function inputRows(
  { dependencyOffsets, dependencyRows }: Pick<TaskRows, 'dependencyOffsets' | 'dependencyRows'>,
  row: number,
): Int32Array {
  return dependencyRows.subarray(dependencyOffsets[row]!, dependencyOffsets[row + 1]!);
}

/** Returns a placeholder for the key of a task of which only the id is known. */
export function unknownKey(id: number): string {
  return `(task ${id})`;
}

/**
 * Adds the hosts of rows. Resource samples without a worker belong to the scheduler's host, which is the first worker's.
 */
export function withHosts<R extends MemoryRows | ResourceRows>(
  table: 'memory' | 'resources',
  rows: R,
  { host }: WorkerRows,
): R {
  return {
    ...rows,
    host: rows.worker.map((row) => host[table === 'resources' ? Math.max(0, row) : row] ?? -1),
  };
}

/**
 * Adds the printed form to a trace. The properties are not enumerable, so that the trace stays a plain object of
 * tables.
 */
export function printable<T extends Trace>(trace: T): T {
  const text = { value: () => printedTrace(trace), enumerable: false };
  return Object.defineProperties(trace, { toString: text, [INSPECT]: text });
}

function printedTrace({ tasks, workers, events, damage, evicted }: Trace): string {
  const [first, last] = [rangeOf(tasks.started).start, rangeOf(tasks.stopped).stop];
  const parts = [
    countText(tasks.length, 'task'),
    countText(workers.length, 'worker'),
    ...(last >= first ? [secondsText(last - first)] : []),
    ...(events.time.length > 0 ? [countText(events.time.length, 'event')] : []),
    ...(evicted.tasks > 0 ? [`${countText(evicted.tasks, 'earlier task')} evicted`] : []),
    ...(damage === undefined ? [] : [`damaged: ${damage.reason}`]),
  ];
  return `<Trace: ${parts.join(', ')}>`;
}
