// The live trace: an observer of a cluster that writes columns. It holds the newest rows of every table and exact sums over
// the whole run. Cost: see bench of the live trace in docs/trace-format.md; a task that ended is some ten typed-array writes.
import { recordOf } from '../../base/recordOf.js';
import {
  ACTIONS,
  type ClusterEvent,
  type ClusterObserver,
  type Computation,
  type MemorySample,
  type MetricSample,
  type ResourceSample,
  TASK_LOST,
  TASK_MEMORY,
  type TaskRuns,
  type Transfer,
  type WorkerInfo,
  type WorkInterval,
} from '../../protocol/clusterObserver.js';
import type { ProfileCycle } from '../../protocol/profileCycle.js';
import type { KindOf } from '../../protocol/taskKinds.js';
import { GROWING_TABLES } from '../../protocol/traceSchema.js';
import { figuresOf } from '../figures.js';
import { cycleSamples } from '../samples/cycleSamples.js';
import { SampleWindow } from '../samples/sampleWindow.js';
import { StringTable } from '../stringTable.js';
import { ResourceBuilder, WorkerBuilder } from '../tableBuilders.js';
import { TableBuilder } from '../tableRows.js';
import { type LiveTotals, TotalSums } from '../totals.js';
import { NO_ROWS, type TableName, type Trace } from '../trace.js';
import { type KnownComputation, type LiveComputation, LiveComputations } from './liveComputations.js';
import { NameLists, runsOf } from './liveRuns.js';
import { type LiveRows, snapshotOf } from './liveSnapshot.js';
import { RowWindow } from './rowWindow.js';
import { TaskWindow } from './taskWindow.js';

/** How many of the newest rows each table holds; up to an eighth more is held until a whole chunk can go. */
export type WindowSizes = Readonly<Record<TableName, number>>;

/** At 56 bytes a task or sample, 41 an interval and some 100 to 200 for rows of other tables: about 110 MB when all is full. */
export const DEFAULT_WINDOW: WindowSizes = {
  tasks: 1_000_000,
  intervals: 250_000,
  transfers: 50_000,
  memory: 50_000,
  resources: 50_000,
  metrics: 50_000,
  samples: 200_000,
  events: 10_000,
};

/** Of so many the newest rows are kept: one costs some 150 bytes, and a program may submit task by task. */
const MAX_COMPUTATIONS = 100_000;

/** How far somebody has read. */
export type TraceCursor = Readonly<Record<TableName, number>>;

export interface TraceChanges {
  /** The rows since the cursor. Ids of strings other than texts of events are the same in all changes of one live trace. */
  readonly trace: Trace;
  /** Rows that were let go before they were read. */
  readonly missed: Readonly<Record<TableName, number>>;
  /** Pass it to the next call. */
  readonly cursor: TraceCursor;
}

export interface LiveTraceOptions {
  /** Default: DEFAULT_WINDOW. Tables that are not named keep their default. */
  readonly window?: Partial<WindowSizes>;
}

const BEGINNING: TraceCursor = NO_ROWS;

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

  /** What it holds now. Taken once for every state; its columns are made when they are read. */
  snapshot(): Trace {
    if (this.#latest?.changes !== this.#changes) {
      this.#latest = { changes: this.#changes, trace: snapshotOf(this.#rows, BEGINNING, this.cursor) };
    }
    return this.#latest.trace;
  }

  /** Up to where there are rows. */
  get cursor(): TraceCursor {
    return recordOf(GROWING_TABLES, (table) => this.#rows.windows[table].end);
  }

  /**
   * The rows that came since the call that returned `cursor`; without one all that it holds. Of each table at most
   * `limits` rows, the oldest of them.
   */
  changesSince(cursor: TraceCursor = BEGINNING, limits: Partial<WindowSizes> = {}): TraceChanges {
    const { windows } = this.#rows;
    const of = (value: (name: TableName) => number): TraceCursor => recordOf(GROWING_TABLES, value);
    const from = of((name) => Math.max(windows[name].first, cursor[name]));
    const to = of((name) =>
      Math.min(windows[name].end, from[name] + (limits[name] ?? Number.POSITIVE_INFINITY)),
    );
    // From the beginning on samples are all there, the older summed up.
    const whole = cursor.samples === 0;
    return {
      trace: snapshotOf(this.#rows, whole ? { ...from, samples: 0 } : from, to),
      missed: of((name) =>
        name === 'samples' && whole ? 0 : Math.max(0, windows[name].first - cursor[name]),
      ),
      cursor: of((name) => Math.max(cursor[name], to[name])),
    };
  }

  /** Rows `[from .. to)` of tasks, counted since the beginning, as they were told. Rows that were let go are left out. */
  runs(from: number, to: number): Iterable<TaskRuns> {
    this.#nameLists.update(this.#names);
    return runsOf(this.#tasks.pieces(from, to), this.#nameLists, this.#types.list);
  }

  /** Rows `[from .. to)` of transfers as they were told: keys of a trace's table are ids, and making them costs. */
  toldTransfers(from: number, to: number): readonly Transfer[] {
    return this.#rows.windows.transfers
      .pieces(from, to)
      .flatMap((piece) => piece.chunk.slice(piece.from, piece.to));
  }

  /** The computations above `number` that it still knows, ascending. */
  computationsAfter(number: number): readonly LiveComputation[] {
    const { all } = this.#computations;
    let at = all.length;
    while (at > 0 && all[at - 1]!.number > number) at--;
    return all.slice(at);
  }

  /** Rows of tasks that it does not hold any more. */
  get evictedTasks(): number {
    return this.#tasks.first;
  }

  /** How often a worker came or went. */
  get workerChanges(): number {
    return this.#workerChanges;
  }

  /** The highest number of a computation that it was told of; 0: of none. */
  get lastComputation(): number {
    return this.#lastComputation;
  }

  /** The sums as they grow: for whoever looks at once, and keeps nothing. */
  get totals(): LiveTotals {
    return this.#totals;
  }

  computationAdded(computation: Computation): void {
    this.#changes++;
    this.#computations.of(computation);
    this.#lastComputation = Math.max(this.#lastComputation, computation.number);
    if (this.#computations.count <= this.#maxComputations) return;
    this.#tasks.dropOldest();
    this.#computations.sweep(this.#tasks.first);
    // Those that the cluster still holds stay, however many they are: look again when there are a tenth more.
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
    this.#tasks.append(this.#types.adopt(runs), live);
    live.lastRow = this.#tasks.end - 1;
    if (!(live.stop >= runs.acknowledged)) live.stop = runs.acknowledged;
    addRuns(this.#totals, known, runs);
    if (this.#tasks.trim()) this.#computations.sweep(this.#tasks.first);
  }

  workerAdded(worker: WorkerInfo): void {
    this.#changes++;
    this.#workerChanges++;
    const id = (text: string): number => this.#names.internString(text);
    // An observer that came late never hears of the workers before: they have no name.
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
    this.#workers.describe(worker.index, { stopped: time, reason: this.#names.internString(reason) });
  }

  interval(interval: WorkInterval): void {
    this.#changes++;
    const { start, stop, nbytes } = interval;
    this.#rows.windows.intervals.next().addReported(interval, this.#names);
    this.#totals.addAction(ACTIONS.indexOf(interval.action), 1, stop - start, nbytes);
  }

  transfer(transfer: Transfer): void {
    this.#changes++;
    this.#rows.windows.transfers.next().push(transfer);
    const { worker, peer, direction, nbytes, compressed, start, stop } = transfer;
    this.#totals.addTransfer(worker, peer, direction === 'incoming', nbytes, compressed, stop - start);
  }

  memory(sample: MemorySample): void {
    this.#changes++;
    this.#rows.windows.memory.next().addReported(sample, this.#names);
  }

  resources(sample: ResourceSample): void {
    this.#changes++;
    const { time, worker } = sample;
    this.#rows.windows.resources.next().add({ time, worker }, figuresOf(sample));
  }

  metric(sample: MetricSample): void {
    this.#changes++;
    this.#rows.windows.metrics.next().addReported(sample, this.#names);
    this.#totals.addMetric(sample);
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

/** The names of result types by the numbers that stand in chunks. */
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

  /** Ids of the live trace's names. */
  get ids(): Int32Array {
    return this.#ids;
  }

  /** The runs with their types as numbers of this list, which is the cluster's own unless there are several. */
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

/** Adds runs that ended to the totals: the part of the work of a live trace that is done task by task. */
function addRuns(totals: TotalSums, { sums, open, ended }: KnownComputation, runs: TaskRuns): void {
  const { count, ids, states, nbytes, started, stopped } = runs;
  const { prefixOf } = runs.computation;
  let [busy, bytes] = [0, 0];
  for (let i = 0; i < count; i++) {
    const id = ids[i]!;
    const state = states[i]!;
    const seconds = stopped[i]! - started[i]!;
    const prefix = prefixOf[id]!;
    const of = sums[prefix];
    if (of !== undefined) {
      of.add(state, seconds, nbytes[i]!);
      const before = ended[id]!;
      of.tasks.ended(state, state === TASK_LOST || before === 0 ? undefined : before - 1);
      // A task counts once, as its latest run ended: lost results are computed again, failed tasks are tried again.
      if (state !== TASK_LOST) {
        if (before === 0) open[prefix]!--;
        ended[id] = state + 1;
      }
    }
    totals.states[state]! += 1;
    if (seconds >= 0) busy += seconds;
    if (state === TASK_MEMORY && nbytes[i]! > 0) bytes += nbytes[i]!;
  }
  totals.addBusy(runs.worker, busy);
  totals.addAction(0, count, busy, bytes);
}
