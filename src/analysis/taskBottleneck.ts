// Computes the time of each task, with one row per key, host and device.
import { sortedOrder } from '../base/sortedOrder.js';
import { TASK_MEMORY } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';
import { placesOf } from './devices.js';
import { PairIndex } from './pairIndex.js';
import { skippedRows } from './skippedTasks.js';
import { Table } from './table.js';

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
  return new Table(
    [
      { title: TASK_TITLES.host, ids: (row) => host[placeOf[row]!]!, strings },
      { title: TASK_TITLES.gpu, ids: (row) => device[placeOf[row]!]!, strings: deviceNames },
      { title: TASK_TITLES.key, ids: pairs.seconds, strings: trace.keys },
      { title: TASK_TITLES.duration, numbers: seconds },
      {
        title: TASK_TITLES.percentage,
        numbers: (row) => (seconds[row]! / places.seconds[placeOf[row]!]!) * 100,
      },
      { title: TASK_TITLES.memory, numbers: (row) => nbytes[row]! / 1e6 },
    ],
    { order: sortedOrder(seconds, true) },
  );
}
