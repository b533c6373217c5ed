// The recording of one run: its task table, and the names of keys and workers. Profilers of the same run share one
// recording.
import { resizedFloat64, resizedInt32 } from '../base/resized.js';
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
  ids: Int32Array;
  /** Seconds since the epoch, from the isolate that ran the task. */
  startTimes: Float64Array;
  stopTimes: Float64Array;
  workers: Int32Array;

  /** Reserves `expected` rows. The system provides memory only when rows are written. */
  constructor(expected: number) {
    const rows = Math.max(MIN_ROWS, expected);
    this.ids = new Int32Array(rows);
    this.startTimes = new Float64Array(rows);
    this.stopTimes = new Float64Array(rows);
    this.workers = new Int32Array(rows);
  }

  /** Appends the first `count` runs. */
  append(runs: Pick<TaskRuns, 'count' | 'ids' | 'started' | 'stopped' | 'worker'>, count = runs.count): void {
    const { ids, started, stopped, worker } = runs;
    const from = this.length;
    if (from + count > this.ids.length) this.#grow(from + count);
    this.ids.set(count === ids.length ? ids : ids.subarray(0, count), from);
    this.startTimes.set(count === started.length ? started : started.subarray(0, count), from);
    this.stopTimes.set(count === stopped.length ? stopped : stopped.subarray(0, count), from);
    if (worker !== 0) this.workers.fill(worker, from, from + count);
    this.length = from + count;
  }

  #grow(rows: number): void {
    const capacity = Math.max(rows, this.ids.length * 2);
    this.ids = resizedInt32(this.ids, capacity);
    this.startTimes = resizedFloat64(this.startTimes, capacity);
    this.stopTimes = resizedFloat64(this.stopTimes, capacity);
    this.workers = resizedInt32(this.workers, capacity);
  }

  /** Returns the rows `from .. length`, ordered by start time and then by row. */
  rowsByStart(from: number): Int32Array {
    const rows = new Int32Array(Math.max(0, this.length - from));
    const { startTimes } = this;
    let sorted = true;
    for (let i = 0; i < rows.length; i++) {
      rows[i] = from + i;
      if (i > 0 && startTimes[from + i]! < startTimes[from + i - 1]!) sorted = false;
    }
    return sorted ? rows : rows.sort((a, b) => startTimes[a]! - startTimes[b]! || a - b);
  }
}

/**
 * Returns when each result was held: one entry per finished task, in the order in which the results were released. A result
 * enters the cache when its task stops, and leaves the cache when its last dependent stops. Requested results, and results
 * that a failed run left unused, are held until the end of the run. Times are seconds since the epoch. During the run, only
 * released results are listed. A task that ran again because its result was lost counts from its last run. Cost: one
 * pass over the rows and their dependents.
 */
export function cacheLifetimes(recording: RunRecording) {
  const { tasks, computation, dependentOffsets, dependents, requested } = recording;
  const { size } = computation;
  const stopOf = new Float64Array(size).fill(Number.NaN);
  let last = computation.submitted;
  for (let row = 0; row < tasks.length; row++) {
    const stop = tasks.stopTimes[row]!;
    stopOf[tasks.ids[row]!] = stop;
    if (stop > last) last = stop;
  }
  // Clocks of other processes may run slightly ahead, but the run ends no earlier than its last task.
  const end = Number.isNaN(recording.endTime) ? Number.NaN : Math.max(recording.endTime, last);

  const freeOf = new Float64Array(size);
  const ids = new Int32Array(tasks.length);
  let count = 0;
  for (let id = 0; id < size; id++) {
    const stop = stopOf[id]!;
    if (Number.isNaN(stop)) continue;
    const from = dependentOffsets[id]!;
    const to = dependentOffsets[id + 1]!;
    let free = requested[id] === 1 || from === to ? end : stop;
    // Math.max returns NaN if a dependent has not stopped. The result is still held then.
    for (let i = from; i < to; i++) free = Math.max(free, stopOf[dependents[i]!]!);
    if (Number.isNaN(free)) free = end;
    if (Number.isNaN(free)) continue;
    freeOf[id] = free;
    ids[count++] = id;
  }
  const order = ids.subarray(0, count).sort((a, b) => freeOf[a]! - freeOf[b]! || stopOf[a]! - stopOf[b]!);
  return {
    ids: order,
    cacheTimes: Float64Array.from(order, (id) => stopOf[id]!),
    freeTimes: Float64Array.from(order, (id) => freeOf[id]!),
  };
}
