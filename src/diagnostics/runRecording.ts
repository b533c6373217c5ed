// The recording of one run: its task table, and the names of keys and workers. Profilers of the same run share one
// recording.
import { resizedFloat64, resizedInt32 } from '../base/resized.js';
import { sortedOrder } from '../base/sortedOrder.js';
import { type Computation, TASK_MEMORY, type TaskRuns } from '../protocol/clusterObserver.js';
import type { Graph } from '../protocol/graph.js';
import type { RunWatcher, WatchedRun } from '../protocol/runObserver.js';
import { epochSeconds } from '../resources/clock.js';

const recordings = new WeakMap<Computation, RunRecording>();

/**
 * Returns a watcher that records a run, or shares its recording. Passes the recording to `joined` before the first
 * task.
 */
export function recordRun(joined: (recording: RunRecording) => void): RunWatcher {
  let recording: RunRecording | undefined;
  let isWriter = false;
  return {
    runStarted(run) {
      recording = recordings.get(run.computation);
      isWriter = recording === undefined;
      recording ??= new RunRecording(run);
      recordings.set(run.computation, recording);
      joined(recording);
    },
    tasksEnded(runs) {
      if (isWriter) recording?.append(runs);
    },
    computationForgotten() {
      if (recording !== undefined) recording.endTime = epochSeconds();
    },
  };
}

/**
 * A recorded run. It holds the graph and the columns, but not the RunInfo, because the state of a RunInfo may hold
 * results.
 */
export class RunRecording {
  readonly graph: Graph;
  readonly computation: Computation;
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  /** 1 for tasks with requested results. */
  readonly requested: Uint8Array;
  readonly workers: WatchedRun['workers'];
  readonly tasks: TaskTable;
  /** End of the run in seconds since the epoch, on the caller's clock; NaN during the run. */
  endTime = Number.NaN;

  constructor({ graph, computation, dependentOffsets, dependents, requested, workers }: WatchedRun) {
    this.graph = graph;
    this.computation = computation;
    this.dependentOffsets = dependentOffsets;
    this.dependents = dependents;
    this.requested = requested;
    this.workers = workers;
    this.tasks = new TaskTable(computation.size);
  }

  /** Appends runs, except for a failed task, which is always the last one. */
  append(runs: TaskRuns): void {
    const { count, states } = runs;
    this.tasks.append(runs, states[count - 1] === TASK_MEMORY ? count : count - 1);
  }

  has(key: string): boolean {
    return isMap(this.graph) ? this.graph.has(key) : Object.hasOwn(this.graph, key);
  }

  /** Returns the task with this id in the graph, e.g. `[add, 1, 2]`. */
  task(id: number): unknown {
    const key = this.computation.keys[id]!;
    return isMap(this.graph) ? this.graph.get(key) : this.graph[key];
  }

  workerName(index: number): string {
    return this.workers.get(index)?.name ?? String(index);
  }
}

/** Maps are iterable, records are not. `instanceof Map` is false for the lazy map of a compiled graph. */
function isMap(graph: Graph): graph is ReadonlyMap<string, unknown> {
  return Symbol.iterator in graph;
}

const MIN_ROWS = 64;

/**
 * One row of 24 bytes per finished task. An append copies three arrays, which costs 5 to 10 ns per task at 512 tasks
 * per batch. The columns are longer than `length`. An append may replace them, so read them from the table again
 * afterwards.
 */
export class TaskTable {
  /** Rows written so far. */
  length = 0;
  ids = new Int32Array(0);
  /** Seconds since the epoch, from the isolate that ran the task. */
  startTimes = new Float64Array(0);
  stopTimes = new Float64Array(0);
  workers = new Int32Array(0);

  /** Reserves `expected` rows. The system provides memory only when rows are written. */
  constructor(expected: number) {
    this.#reserve(Math.max(MIN_ROWS, expected));
  }

  /** Appends the first `count` runs. */
  append(runs: Pick<TaskRuns, 'count' | 'ids' | 'started' | 'stopped' | 'worker'>, count = runs.count): void {
    const { ids, started, stopped, worker } = runs;
    const from = this.length;
    const rows = from + count;
    if (rows > this.ids.length) this.#reserve(Math.max(rows, this.ids.length * 2));
    this.ids.set(count === ids.length ? ids : ids.subarray(0, count), from);
    this.startTimes.set(count === started.length ? started : started.subarray(0, count), from);
    this.stopTimes.set(count === stopped.length ? stopped : stopped.subarray(0, count), from);
    if (worker !== 0) this.workers.fill(worker, from, rows);
    this.length = rows;
  }

  #reserve(capacity: number): void {
    this.ids = resizedInt32(this.ids, capacity);
    this.startTimes = resizedFloat64(this.startTimes, capacity);
    this.stopTimes = resizedFloat64(this.stopTimes, capacity);
    this.workers = resizedInt32(this.workers, capacity);
  }

  /** Returns the rows `from .. length`, ordered by start time and then by row. */
  rowsByStart(from: number): Int32Array {
    const order = sortedOrder(this.startTimes.subarray(from, this.length), false);
    return from === 0 ? order : order.map((row) => from + row);
  }
}

export interface CachedRun {
  readonly recording: RunRecording;
  /** Metrics by task id; undefined for 1 for every result. */
  readonly metrics: Float64Array | undefined;
}

/** One result in the cache. Times are seconds since the epoch. */
interface HeldResult {
  readonly id: number;
  readonly metric: number;
  readonly cacheTime: number;
  readonly freeTime: number;
}

/**
 * Returns when each result was held: one entry per finished task, in the order in which the results were released. A result
 * enters the cache when its task stops, and leaves the cache when its last dependent stops. Requested results, and results
 * that a failed run left unused, are held until the end of the run. During the run, only released results are listed. A
 * task that ran again because its result was lost counts from its last run. Cost: one pass over the rows and their
 * dependents.
 */
export function heldResults({ recording, metrics }: CachedRun): HeldResult[] {
  const { tasks, computation, dependentOffsets, dependents, requested } = recording;
  const stopOf = new Float64Array(computation.size).fill(Number.NaN);
  let last = computation.submitted;
  for (let row = 0; row < tasks.length; row++) {
    const stop = tasks.stopTimes[row]!;
    stopOf[tasks.ids[row]!] = stop;
    if (stop > last) last = stop;
  }
  // Clocks of other processes may run slightly ahead, but the run ends no earlier than its last task.
  const end = Math.max(recording.endTime, last);

  const held: HeldResult[] = [];
  for (const id of sortedOrder(stopOf, false)) {
    const cacheTime = stopOf[id]!;
    // These tasks come last.
    if (Number.isNaN(cacheTime)) break;
    const [from, to] = [dependentOffsets[id]!, dependentOffsets[id + 1]!];
    let freeTime = requested[id] === 1 || from === to ? end : cacheTime;
    // Math.max returns NaN if a dependent has not stopped. The result is still held then.
    for (let i = from; i < to; i++) freeTime = Math.max(freeTime, stopOf[dependents[i]!]!);
    if (Number.isNaN(freeTime)) freeTime = end;
    if (!Number.isNaN(freeTime)) held.push({ id, metric: metrics?.[id] ?? 1, cacheTime, freeTime });
  }
  const order = sortedOrder(new Float64Array(held.map(({ freeTime }) => freeTime)), false);
  return Array.from(order, (at) => held[at]!);
}
