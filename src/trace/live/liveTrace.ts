// The live trace: an observer of a cluster that writes columns. It holds the newest rows of every table and exact sums
// over the whole run. The row of a task takes some ten writes to typed arrays; docs/trace-format.md has measurements.
import { recordOf } from '../../base/lookUps.js';
import {
  ACTIONS,
  type ClusterEvent,
  type ClusterObserver,
  type Computation,
  type EndReason,
  type MemorySample,
  type MetricSample,
  type ProfileCycle,
  type ResourceSample,
  type TaskRuns,
  type Transfer,
  type WorkerInfo,
  type WorkInterval,
} from '../../protocol/clusterObserver.js';
import type { KindOf } from '../../protocol/metrics.js';
import type { OpenGraph } from '../../protocol/openGraph.js';
import { GROWING_TABLES } from '../../protocol/traceSchema.js';
import { cycleSamples } from '../samples/cycleSamples.js';
import { SampleWindow } from '../samples/sampleWindow.js';
import { StringTable } from '../stringTable.js';
import { figuresOf, ResourceBuilder, WorkerBuilder } from '../tableBuilders.js';
import { TableBuilder } from '../tableRows.js';
import { type LiveTotals, TotalSums } from '../totals.js';
import { NO_ROWS, type TableName, type Trace } from '../trace.js';
import { addRuns, type LiveComputation, LiveComputations } from './liveComputations.js';
import { NameLists, runsOf } from './liveRuns.js';
import { type LiveRows, rowsOf, snapshotOf } from './liveSnapshot.js';
import { RowWindow } from './rowWindow.js';
import { TaskWindow } from './taskWindow.js';

/** Number of newest rows that each table holds. A table may hold an eighth more until it evicts a whole chunk. */
export type WindowSizes = Readonly<Record<TableName, number>>;

/**
 * Uses about 120 MB when full: 56 bytes per task or sample, 41 per interval, some 100 to 200 per row of other tables.
 */
const DEFAULT_WINDOW: WindowSizes = {
  tasks: 1_000_000,
  intervals: 250_000,
  transfers: 50_000,
  memory: 50_000,
  resources: 50_000,
  metrics: 50_000,
  samples: 200_000,
  events: 10_000,
};

/**
 * Number of computations above which the oldest rows of tasks are evicted. A computation uses some 150 bytes, and a
 * program may submit every task by itself.
 */
const MAX_COMPUTATIONS = 100_000;

/** Position of a reader: rows of each table, counted since the beginning. */
export type TraceCursor = Readonly<Record<TableName, number>>;

export interface TraceChanges {
  /** New rows. Ids of strings are the same in all changes of one live trace, except texts of events. */
  readonly trace: Trace;
  /** Rows that were evicted before they were read. */
  readonly missed: Readonly<Record<TableName, number>>;
  readonly cursor: TraceCursor;
}

export interface LiveTraceOptions {
  /** Rows per table. Default: DEFAULT_WINDOW, also for tables that are not given. */
  readonly window?: Partial<WindowSizes>;
}

export class LiveTrace implements ClusterObserver {
  readonly #names = new StringTable();
  readonly #totals = new TotalSums();
  readonly #computations = new LiveComputations(this.#names, this.#totals);
  readonly #workers = new WorkerBuilder();
  readonly #tasks: TaskWindow;
  readonly #rows: LiveRows;
  readonly #types = new TypeNames(this.#names);
  readonly #nameLists = new NameLists();
  #changes = 0;
  #lastComputation = 0;
  #workerChanges = 0;
  #maxComputations = MAX_COMPUTATIONS;
  #latest: { readonly changes: number; readonly trace: Trace } | undefined;

  constructor({ window = {} }: LiveTraceOptions = {}) {
    const sizes = { ...DEFAULT_WINDOW, ...window };
    this.#tasks = new TaskWindow(sizes.tasks);
    this.#rows = {
      names: this.#names,
      typeIds: () => this.#types.ids,
      computations: this.#computations,
      workers: this.#workers,
      totals: this.#totals,
      windows: {
        tasks: this.#tasks,
        intervals: builtWindow('intervals', sizes),
        transfers: new RowWindow<Transfer[]>(sizes.transfers, () => []),
        memory: builtWindow('memory', sizes),
        resources: new RowWindow(sizes.resources, () => new ResourceBuilder()),
        metrics: builtWindow('metrics', sizes),
        samples: new SampleWindow(sizes.samples, this.#names),
        events: new RowWindow<ClusterEvent[]>(sizes.events, () => []),
      },
    };
  }

  /**
   * Returns the current rows as a trace. Repeated calls without changes return the same trace; its columns are made on
   * first use.
   */
  snapshot(): Trace {
    if (this.#latest?.changes !== this.#changes) {
      this.#latest = { changes: this.#changes, trace: snapshotOf(this.#rows, NO_ROWS, this.cursor) };
    }
    return this.#latest.trace;
  }

  /** Position after the newest rows. */
  get cursor(): TraceCursor {
    return recordOf(GROWING_TABLES, (table) => this.#rows.windows[table].end);
  }

  /**
   * Returns the rows after `cursor`, or all rows that are held. `limits` bounds the rows of a table; the oldest come
   * first.
   */
  changesSince(cursor: TraceCursor = NO_ROWS, limits: Partial<WindowSizes> = {}): TraceChanges {
    const { windows } = this.#rows;
    const of = (value: (name: TableName) => number): TraceCursor => recordOf(GROWING_TABLES, value);
    const from = of((name) => Math.max(windows[name].first, cursor[name]));
    const to = of((name) =>
      Math.min(windows[name].end, from[name] + (limits[name] ?? Number.POSITIVE_INFINITY)),
    );
    // Reading from the beginning includes all samples, the older ones summed.
    const whole = cursor.samples === 0;
    return {
      trace: snapshotOf(this.#rows, whole ? { ...from, samples: 0 } : from, to),
      missed: of((name) =>
        name === 'samples' && whole ? 0 : Math.max(0, windows[name].first - cursor[name]),
      ),
      cursor: of((name) => Math.max(cursor[name], to[name])),
    };
  }

  /** Returns rows `[from .. to)` of tasks, counted since the beginning, without evicted rows. */
  runs(from: number, to: number): Iterable<TaskRuns> {
    this.#nameLists.update(this.#names);
    return runsOf(this.#tasks.pieces(from, to), this.#nameLists, this.#types.list);
  }

  /**
   * Returns rows `[from .. to)` of transfers with their keys as texts. The ids of keys in a trace need the table of all
   * keys.
   */
  reportedTransfers(from: number, to: number): readonly Transfer[] {
    return rowsOf(this.#rows.windows.transfers.pieces(from, to));
  }

  /** Returns the held computations with higher numbers than `number`, ascending. */
  computationsAfter(number: number): readonly LiveComputation[] {
    const { all } = this.#computations;
    let at = all.length;
    while (at > 0 && all[at - 1]!.number > number) at--;
    return all.slice(at);
  }

  get evictedTasks(): number {
    return this.#tasks.first;
  }

  /** Number of times that a worker was added or removed. */
  get workerChanges(): number {
    return this.#workerChanges;
  }

  /** Highest number of a reported computation; 0 if none was reported. */
  get lastComputation(): number {
    return this.#lastComputation;
  }

  /** Live sums, for callers that read them immediately and keep nothing. */
  get totals(): LiveTotals {
    return this.#totals;
  }

  /**
   * Returns the tasks of the current graph whose runs have not ended.
   *
   * @param processing ids of the tasks that workers have
   */
  openGraph(processing: ReadonlySet<number>): OpenGraph {
    const tasks = this.#computations.unendedTasks(processing);
    return { rows: this.#tasks.end, count: tasks?.length ?? this.#totals.unfinished, tasks: tasks ?? [] };
  }

  computationAdded(computation: Computation): void {
    this.#changes++;
    this.#computations.of(computation);
    this.#lastComputation = Math.max(this.#lastComputation, computation.number);
    if (this.#computations.count <= this.#maxComputations) return;
    this.#tasks.dropOldest();
    this.#computations.sweep(this.#tasks.first);
    // Computations that the cluster holds cannot be removed. Sweep again when there are 10 % more.
    this.#maxComputations = Math.max(MAX_COMPUTATIONS, this.#computations.count * 1.1);
  }

  computationForgotten(computation: Computation): void {
    this.#changes++;
    this.#computations.forget(computation);
  }

  tasksEnded(runs: TaskRuns): void {
    this.#changes++;
    const known = this.#computations.of(runs.computation);
    const { live } = known;
    if (live.number > this.#lastComputation) this.#lastComputation = live.number;
    const { first } = this.#tasks;
    this.#tasks.append(this.#types.adopt(runs), live);
    live.lastRow = this.#tasks.end - 1;
    if (!(live.stop >= runs.acknowledged)) live.stop = runs.acknowledged;
    addRuns(this.#totals, known, runs);
    if (this.#tasks.first > first) this.#computations.sweep(this.#tasks.first);
  }

  tasksDropped(computation: Computation, ids: readonly number[], why: EndReason): void {
    this.#changes++;
    this.#computations.dropped(computation, ids, why);
  }

  workerAdded(worker: WorkerInfo): void {
    this.#changes++;
    this.#workerChanges++;
    this.#totals.offeredTime.changeThreads(worker.startTime, worker.threads);
    this.#totals.workers.add(worker);
    const id = (text: string): number => this.#names.internString(text);
    // An observer that was added late receives no event for earlier workers; they have no name.
    while (this.#workers.length <= worker.index) this.#workers.add({ name: -1, host: -1 });
    this.#workers.describe(worker.index, {
      name: id(worker.name),
      address: id(worker.address),
      host: id(worker.host),
      pid: worker.pid,
      threads: worker.threads,
      memoryLimit: worker.memoryLimit,
      started: worker.startTime,
    });
  }

  workerRemoved(worker: WorkerInfo, time: number, reason: string): void {
    if (worker.index >= this.#workers.length) this.workerAdded(worker);
    this.#changes++;
    this.#workerChanges++;
    this.#totals.offeredTime.changeThreads(time, -worker.threads);
    this.#totals.workers.remove(worker);
    this.#workers.describe(worker.index, { stopped: time, reason: this.#names.internString(reason) });
  }

  interval(interval: WorkInterval): void {
    this.#changes++;
    const { start, stop, nbytes } = interval;
    this.#rows.windows.intervals.next().add(interval, this.#names);
    this.#totals.addAction(ACTIONS.indexOf(interval.action), 1, stop - start, nbytes);
  }

  transfer(transfer: Transfer): void {
    this.#changes++;
    this.#rows.windows.transfers.next().push(transfer);
    const { worker, peer, direction, what, keys, nbytes, compressed, start, stop } = transfer;
    const isIncoming = direction === 'incoming';
    this.#totals.addTransfer(worker, peer, isIncoming, nbytes, compressed, stop - start);
    if (isIncoming && what === 'gather-dep') this.#totals.addFetch(keys, stop - start);
  }

  memory(sample: MemorySample): void {
    this.#changes++;
    this.#rows.windows.memory.next().add(sample, this.#names);
  }

  resources(sample: ResourceSample): void {
    this.#changes++;
    const { time, worker } = sample;
    this.#rows.windows.resources.next().add({ time, worker }, figuresOf(sample));
  }

  metric(sample: MetricSample): void {
    this.#changes++;
    this.#rows.windows.metrics.next().add(sample, this.#names);
    this.#totals.addMetric(sample);
    this.#totals.workers.addMetric(sample);
  }

  profile(worker: number, cycle: ProfileCycle, kindOf: KindOf): void {
    this.#changes++;
    const { samples } = this.#rows.windows;
    for (const [row, frames] of cycleSamples(worker, cycle, kindOf)) {
      for (const frame of frames) samples.addFrame(frame);
      samples.add(row);
    }
  }

  event(event: ClusterEvent): void {
    this.#changes++;
    this.#rows.windows.events.next().push(event);
  }
}

function builtWindow<T extends TableName>(table: T, sizes: WindowSizes): RowWindow<TableBuilder<T>> {
  return new RowWindow(sizes[table], () => new TableBuilder(table));
}

/** Names of result types, by the numbers in chunks. */
class TypeNames {
  readonly #names: StringTable;
  #list: readonly string[] = [];
  #ids = new Int32Array(0);

  constructor(names: StringTable) {
    this.#names = names;
  }

  get list(): readonly string[] {
    return this.#list;
  }

  /** Ids of the names in the live trace. */
  get ids(): Int32Array {
    return this.#ids;
  }

  /**
   * Returns the runs with types numbered by this list. The list is the engine's own unless several engines report runs.
   */
  adopt(runs: TaskRuns): TaskRuns {
    const { typeNames } = runs;
    if (this.#list.length === 0) this.#list = typeNames;
    if (typeNames === this.#list) {
      if (this.#ids.length < typeNames.length) this.#extend(typeNames);
      return runs;
    }
    const own = [...this.#list];
    const numbers = typeNames.map((name) => {
      const known = own.indexOf(name);
      return known < 0 ? own.push(name) - 1 : known;
    });
    this.#list = own;
    this.#extend(own);
    return { ...runs, types: runs.types.slice(0, runs.count).map((type) => numbers[type] ?? type) };
  }

  #extend(list: readonly string[]): void {
    this.#ids = Int32Array.from(list, (name) => this.#names.internString(name));
  }
}
