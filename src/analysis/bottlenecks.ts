// Computes the time of each function, with one row per function, host and device, and the time of each task.
import { TASK_MEMORY } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';
import { placesOf } from './devices.js';
import { keyGraphOf } from './keyGraph.js';
import { PairIndex } from './pairIndex.js';
import { type Overlap, SampleJoin } from './sampleJoin.js';
import { skippedRows } from './skippedTasks.js';
import { descendingTable, numberColumn, type Table } from './table.js';

/** Column titles in order, as in DASF. */
export const FUNCTION_TITLES = {
  host: 'Host',
  gpu: 'GPU',
  name: 'Function',
  duration: 'Duration (s)',
  percentage: 'Percentage of total time (%)',
  utilization: 'Mean GPU Utilization (%)',
  memory: 'Mean GPU Memory Used (GB)',
  size: 'Mean Data Size (MB)',
  throughput: 'Mean Throughput (MB/s)',
  count: 'Num Tasks (chunks)',
  mean: 'Mean Task time (s)',
} as const;

/**
 * Returns the functions by the seconds of their tasks, longest first.
 *
 * - `Duration (s)`, `Mean Task time (s)`: over tasks with a duration. `Num Tasks (chunks)` also counts lost runs,
 *   but no tasks that did not run because another task failed.
 * - `Percentage of total time (%)`: share of the seconds computed on this host and device.
 * - `Mean GPU …`: mean of the samples of this host and device, weighted by their overlap with the function's tasks; null
 *   without such samples.
 * - `Mean Data Size (MB)`: mean size of all inputs of a task, in 10^6 bytes, over tasks with inputs of known sizes; null
 *   without such tasks. The size of scattered data is unknown.
 * - `Mean Throughput (MB/s)`: mean of data size / duration over the same tasks, if their duration is not 0.
 *
 * @source DASF, `TraceAnalyser.per_function_bottleneck`
 */
export function functionBottleneck(trace: Trace): Table {
  const { tasks, strings } = trace;
  const places = placesOf(trace);
  const pairs = new PairIndex(strings.length);
  const rowOf = new Int32Array(tasks.length);
  const { functionName } = tasks;
  const { place } = places;
  for (let task = 0; task < tasks.length; task++) rowOf[task] = pairs.of(place[task]!, functionName[task]!);
  const sums = sumsOf(trace, rowOf, pairs.length);
  const placeOf = pairs.firsts;
  const column = (title: string, value: (row: number) => number) => numberColumn(title, pairs.length, value);
  const titles = FUNCTION_TITLES;
  const { duration, count } = sums;
  return descendingTable(duration, [
    { title: titles.host, ids: placeOf.map((place) => places.host[place]!), strings },
    { title: titles.gpu, ids: placeOf.map((place) => places.device[place]!), strings: places.deviceNames },
    { title: titles.name, ids: pairs.seconds, strings },
    { title: titles.duration, numbers: duration },
    // 0 / 0 is NaN, which the table shows as null.
    column(titles.percentage, (row) => (duration[row]! / places.seconds[placeOf[row]!]!) * 100),
    {
      title: titles.utilization,
      numbers: meanSamples(trace, rowOf, pairs.length, trace.resources.gpuUtilization),
    },
    {
      title: titles.memory,
      numbers: meanSamples(trace, rowOf, pairs.length, trace.resources.gpuMemoryUsed).map(
        (bytes) => bytes / 1e9,
      ),
    },
    column(titles.size, (row) => sums.input[row]! / sums.sized[row]! / 1e6),
    column(titles.throughput, (row) => sums.throughput[row]! / sums.timed[row]! / 1e6),
    { title: titles.count, numbers: count },
    column(titles.mean, (row) => duration[row]! / sums.measured[row]!),
  ]);
}

function sumsOf(trace: Trace, rowOf: Int32Array, rows: number) {
  const { length, duration: durations } = trace.tasks;
  const inputOf = inputBytes(trace);
  const skipped = skippedRows(trace);
  const duration = new Float64Array(rows);
  const count = new Float64Array(rows);
  /** Number of tasks with a duration. Lost runs have none. */
  const measured = new Float64Array(rows);
  const input = new Float64Array(rows);
  const throughput = new Float64Array(rows);
  /** Number of tasks with inputs of known sizes, and of those with a duration above 0. */
  const sized = new Float64Array(rows);
  const timed = new Float64Array(rows);
  for (let task = 0; task < length; task++) {
    const row = rowOf[task]!;
    const seconds = durations[task]!;
    if (!skipped.has(task)) count[row]! += 1;
    if (!Number.isNaN(seconds)) {
      duration[row]! += seconds;
      measured[row]! += 1;
    }
    const bytes = inputOf(task);
    if (Number.isNaN(bytes)) continue;
    input[row]! += bytes;
    sized[row]! += 1;
    if (seconds > 0) {
      throughput[row]! += bytes / seconds;
      timed[row]! += 1;
    }
  }
  return { duration, count, measured, input, throughput, sized, timed };
}

/** Returns a function that gives the bytes of all inputs of a row of tasks; NaN if the size of an input is unknown. */
function inputBytes(trace: Trace): (task: number) => number {
  const { tasks } = trace;
  // If tasks also name their dependents, only the graph of keys has all edges.
  if (tasks.dependents.length > 0) {
    const { inputBytes, inputUnknown } = keyGraphOf(trace);
    const { key } = tasks;
    return (task) => (inputUnknown[key[task]!] === 1 ? Number.NaN : inputBytes[key[task]!]!);
  }
  const { dependencyOffsets, dependencyRows, nbytes } = tasks;
  return (task) => {
    let sum = 0;
    const end = dependencyOffsets[task + 1]!;
    for (let edge = dependencyOffsets[task]!; edge < end; edge++) {
      const row = dependencyRows[edge]!;
      sum += row < 0 ? Number.NaN : nbytes[row]!;
    }
    return sum;
  };
}

function meanSamples(trace: Trace, rowOf: Int32Array, rows: number, figure: Float64Array): Float64Array {
  const { length, host: hosts, worker: workers, device: devices, stopped, duration } = trace.tasks;
  const means = new Float64Array(rows).fill(Number.NaN);
  if (trace.resources.length === 0) return means;
  const join = new SampleJoin(trace, figure);
  const overlaps: Overlap[] = Array.from({ length: rows }, () => ({ seconds: 0, sum: 0 }));
  // Consecutive tasks are mostly of the same worker.
  let [host, worker, device] = [-2, -2, -2];
  let stream = join.streamFor(host, worker, device);
  for (let task = 0; task < length; task++) {
    if (hosts[task] !== host || workers[task] !== worker || devices[task] !== device) {
      [host, worker, device] = [hosts[task]!, workers[task]!, devices[task]!];
      stream = join.streamFor(host, worker, device);
    }
    const stop = stopped[task]!;
    stream?.add(stop - duration[task]!, stop, overlaps[rowOf[task]!]!);
  }
  for (const [row, { seconds, sum }] of overlaps.entries()) if (seconds > 0) means[row] = sum / seconds;
  return means;
}

/** Column titles in order, as in DASF. */
export const TASK_TITLES = {
  host: 'Host',
  gpu: 'GPU',
  key: 'Task Key',
  duration: 'Duration (s)',
  percentage: 'Percentage of total time (%)',
  memory: 'Memory usage (Mb)',
} as const;

/**
 * Returns tasks by their seconds, longest first, without those that did not run because another one failed. A key that ran several times at one place has one row with the sum.
 * `Memory usage (Mb)` is the size of the last result in 10^6 bytes; null if unknown.
 *
 * @source DASF, `TraceAnalyser.per_task_bottleneck`
 */
export function taskBottleneck(trace: Trace): Table {
  const { tasks, strings } = trace;
  const places = placesOf(trace);
  const { length } = trace.keys;
  const pairs = new PairIndex(length, Math.min(length, tasks.length) + 1);
  const duration = new Float64Array(tasks.length);
  const nbytes = new Float64Array(tasks.length).fill(Number.NaN);
  const { key, state, duration: durations, nbytes: sizes } = tasks;
  const { place } = places;
  const skipped = skippedRows(trace);
  for (let task = 0; task < tasks.length; task++) {
    if (skipped.has(task)) continue;
    const row = pairs.of(place[task]!, key[task]!);
    // Lost runs have no duration and no result.
    if (!Number.isNaN(durations[task]!)) duration[row]! += durations[task]!;
    if (state[task] === TASK_MEMORY || Number.isNaN(nbytes[row]!)) nbytes[row] = sizes[task]!;
  }
  const placeOf = pairs.firsts;
  const seconds = duration.subarray(0, pairs.length);
  const { host, device, deviceNames } = places;
  return descendingTable(seconds, [
    { title: TASK_TITLES.host, ids: (row) => host[placeOf[row]!]!, strings },
    { title: TASK_TITLES.gpu, ids: (row) => device[placeOf[row]!]!, strings: deviceNames },
    { title: TASK_TITLES.key, ids: pairs.seconds, strings: trace.keys },
    { title: TASK_TITLES.duration, numbers: seconds },
    {
      title: TASK_TITLES.percentage,
      numbers: (row) => (seconds[row]! / places.seconds[placeOf[row]!]!) * 100,
    },
    { title: TASK_TITLES.memory, numbers: (row) => nbytes[row]! / 1e6 },
  ]);
}
