// The two bottleneck tables exactly as DASF computes them, with the errors of DASF: the end of a task is taken as its
// start, and a sample belongs to the first overlapping task in the file, on any host. Names are as recorded, and the
// graph has one entry per key for all its runs. Values at which DASF would crash (a task without a duration, a sample
// without a GPU) are left out.
import { addTo, firstWhere } from '../base/lookUps.js';
import { sortedOrder } from '../base/sortedOrder.js';
import { StringTable } from '../trace/stringTable.js';
import type { Trace } from '../trace/trace.js';
import { FUNCTION_TITLES, TASK_TITLES } from './bottlenecks.js';
import { keyGraphOf } from './keyGraph.js';
import { PairIndex } from './pairIndex.js';
import { type Column, numberColumn, Table } from './table.js';

/** Returns DASF's `per_function_bottleneck`. */
export function dasfFunctionBottleneck(trace: Trace): Table {
  const groups = groupTasks(trace, trace.tasks.recordedName);
  const { pairs, duration, count, input, throughput } = groups;
  const rows = pairs.length;
  const names = pairs.seconds.map((second) => second - 1);
  const { utilization, memory } = sampleMeans(trace);
  const column = (title: string, value: (row: number) => number): Column => ({
    ...numberColumn(title, rows, value),
    float: true,
  });
  const titles = FUNCTION_TITLES;
  return sortedByDuration(
    [
      ...placeColumns(trace, groups),
      { title: titles.name, ids: names, strings: trace.strings },
      column(titles.duration, (row) => duration[row]!),
      column(titles.percentage, (row) => percentage(groups, row)),
      // In DASF, functions without samples have the integer 0. A column of integers is printed without decimals.
      {
        ...column(titles.utilization, (row) => utilization.get(names[row]!) ?? 0),
        float: names.some((name) => utilization.has(name)),
      },
      column(titles.memory, (row) => (memory.get(names[row]!) ?? 0) / 1e9),
      column(titles.size, (row) => input[row]! / count[row]! / 1e6),
      column(titles.throughput, (row) => throughput[row]! / count[row]! / 1e6),
      { title: titles.count, numbers: count },
      column(titles.mean, (row) => duration[row]! / count[row]!),
    ],
    duration,
  );
}

/** Returns DASF's `per_task_bottleneck`. */
export function dasfTaskBottleneck(trace: Trace): Table {
  const groups = groupTasks(trace, trace.tasks.key);
  const { pairs, duration } = groups;
  const { nbytes } = keyGraphOf(trace);
  const keys = pairs.seconds.map((second) => second - 1);
  const column = (title: string, numbers: Float64Array): Column => ({ title, numbers, float: true });
  return sortedByDuration(
    [
      ...placeColumns(trace, groups),
      { title: TASK_TITLES.key, ids: keys, strings: trace.keys },
      column(TASK_TITLES.duration, duration),
      column(
        TASK_TITLES.percentage,
        duration.map((_, row) => percentage(groups, row)),
      ),
      column(
        TASK_TITLES.memory,
        Float64Array.from(keys, (key) => nbytes[key]! / 1e6),
      ),
    ],
    duration,
  );
}

interface Groups {
  /** Pairs (group, name or key + 1) in DASF's order before sorting: by group, then by first appearance of the name. */
  readonly pairs: {
    readonly firsts: Int32Array;
    readonly seconds: Int32Array;
    readonly length: number;
  };
  /** String ids of (host, worker) by group. */
  readonly workers: PairIndex;
  readonly duration: Float64Array;
  readonly count: Float64Array;
  /** Sums over the tasks of a pair. */
  readonly input: Float64Array;
  readonly throughput: Float64Array;
  /** Seconds by group. */
  readonly total: Float64Array;
}

function groupTasks(trace: Trace, names: Int32Array): Groups {
  const { tasks, strings } = trace;
  const graph = keyGraphOf(trace);
  const workers = new PairIndex(trace.workers.length + 1);
  const found = new PairIndex(Math.max(strings.length, trace.keys.length) + 1);
  const groupOf = new Int32Array(tasks.length);
  const pairOf = new Int32Array(tasks.length);
  for (let task = 0; task < tasks.length; task++) {
    const group = workers.of(tasks.host[task]!, tasks.worker[task]! + 1);
    groupOf[task] = group;
    pairOf[task] = found.of(group, names[task]! + 1);
  }
  const rowOfPair = new Int32Array(found.length);
  const { firsts: groups, seconds } = found;
  const order = sortedOrder(Float64Array.from(groups), false);
  for (const [row, pair] of order.entries()) rowOfPair[pair] = row;

  const rows = found.length;
  const duration = new Float64Array(rows);
  const count = new Float64Array(rows);
  const input = new Float64Array(rows);
  const throughput = new Float64Array(rows);
  for (let task = 0; task < tasks.length; task++) {
    const row = rowOfPair[pairOf[task]!]!;
    const key = tasks.key[task]!;
    duration[row]! += tasks.duration[task]!;
    count[row]! += 1;
    input[row]! += graph.inputBytes[key]!;
    const seconds = tasks.duration[graph.lastRun[key]!]!;
    if (seconds > 0) throughput[row]! += graph.inputBytes[key]! / seconds;
  }
  const firsts = order.map((pair) => groups[pair]!);
  const total = new Float64Array(workers.length);
  for (let row = 0; row < rows; row++) total[firsts[row]!]! += duration[row]!;
  const pairs = { firsts, seconds: order.map((pair) => seconds[pair]!), length: rows };
  return { pairs, workers, duration, count, input, throughput, total };
}

function percentage({ pairs, duration, total }: Groups, row: number): number {
  return (duration[row]! / total[pairs.firsts[row]!]!) * 100;
}

/** Returns the columns Host and GPU. In DASF, GPU is the last part of the worker's name. */
function placeColumns(trace: Trace, { pairs, workers }: Groups): Column[] {
  const { strings } = trace;
  const gpus = new StringTable();
  const { firsts: hosts, seconds } = workers;
  const gpuOf = seconds.map((worker) =>
    worker === 0
      ? -1
      : gpus.internString(
          strings
            .get(trace.workers.name[worker - 1]!)
            .split('-')
            .at(-1) ?? '',
        ),
  );
  return [
    { title: 'Host', ids: pairs.firsts.map((group) => hosts[group]!), strings },
    { title: 'GPU', ids: pairs.firsts.map((group) => gpuOf[group]!), strings: gpus },
  ];
}

function sortedByDuration(columns: readonly Column[], duration: Float64Array): Table {
  return new Table(columns, {
    order: sortedOrder(duration, true),
    pandasIndex: Int32Array.from(duration, (_, row) => row),
  });
}

/** Returns the means of the samples of all workers, by recorded name. */
function sampleMeans(trace: Trace): { utilization: Map<number, number>; memory: Map<number, number> } {
  const { resources, tasks } = trace;
  const owners = firstOverlapping(trace);
  const means = (values: Float64Array): Map<number, number> => {
    const [sums, counts] = [new Map<number, number>(), new Map<number, number>()];
    for (let row = 0; row < resources.length; row++) {
      const owner = owners[row]!;
      if (owner < 0 || Number.isNaN(values[row]!)) continue;
      const name = tasks.recordedName[owner]!;
      addTo(sums, name, values[row]!);
      addTo(counts, name, 1);
    }
    return new Map(Array.from(sums, ([name, sum]) => [name, sum / counts.get(name)!]));
  };
  return { utilization: means(resources.gpuUtilization), memory: means(resources.gpuMemoryUsed) };
}

/**
 * Returns for each sample the first task in the file that, for DASF, was running, or -1. Tasks take the samples in
 * their time span in the order of the file. Later tasks skip samples that are taken, so the cost is one search per
 * task.
 */
function firstOverlapping({ tasks, resources }: Trace): Int32Array {
  const byTime = sortedOrder(resources.time, false);
  const times = Float64Array.from(byTime, (row) => resources.time[row]!);
  const owners = new Int32Array(resources.length).fill(-1);
  /** The next position at or after `i` that no task has taken. */
  const free = Int32Array.from({ length: times.length + 1 }, (_, i) => i);
  const nextFree = (from: number): number => {
    let at = from;
    while (free[at] !== at) {
      free[at] = free[free[at]!]!;
      at = free[at]!;
    }
    return at;
  };
  for (let task = 0; task < tasks.length; task++) {
    const start = tasks.stopped[task]!;
    const stop = start + tasks.duration[task]!;
    let at = nextFree(firstWhere(0, times.length, (i) => times[i]! >= start));
    while (at < times.length && times[at]! <= stop) {
      owners[byTime[at]!] = task;
      free[at] = at + 1;
      at = nextFree(at + 1);
    }
  }
  return owners;
}
