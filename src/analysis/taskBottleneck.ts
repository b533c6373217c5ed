// Which task takes the time? One row per key on each host and device.
import { sortedOrder } from '../base/sortedOrder.js';
import type { Trace } from '../trace/trace.js';
import { placesOf } from './devices.js';
import { PairIndex } from './pairIndex.js';
import { Table } from './table.js';

/** Titles of the columns in order, as in DASF. */
export const TASK_TITLES = {
  host: 'Host',
  gpu: 'GPU',
  key: 'Task Key',
  duration: 'Duration (s)',
  percentage: 'Percentage of total time (%)',
  memory: 'Memory usage (Mb)',
} as const;

/**
 * Tasks by the seconds they took, longest first; a key that ran again at the same place has one row with the sum.
 * `Memory usage (Mb)` is the size of the last result there in 10^6 bytes, null if it is not known.
 *
 * @source DASF, `TraceAnalyser.per_task_bottleneck`
 */
export function taskBottleneck(trace: Trace): Table {
  const { tasks, strings } = trace;
  const places = placesOf(trace);
  const pairs = new PairIndex(strings.length);
  const duration = new Float64Array(tasks.length);
  const nbytes = new Float64Array(tasks.length);
  for (let task = 0; task < tasks.length; task++) {
    const row = pairs.of(places.place[task]!, tasks.key[task]!);
    duration[row]! += tasks.duration[task]!;
    nbytes[row] = tasks.nbytes[task]!;
  }
  const rows = pairs.length;
  const placeOf = pairs.firsts;
  const seconds = duration.subarray(0, rows);
  return new Table(
    [
      { title: TASK_TITLES.host, ids: placeOf.map((place) => places.host[place]!), strings },
      {
        title: TASK_TITLES.gpu,
        ids: placeOf.map((place) => places.device[place]!),
        strings: places.deviceNames,
      },
      { title: TASK_TITLES.key, ids: pairs.seconds, strings },
      { title: TASK_TITLES.duration, numbers: seconds },
      {
        title: TASK_TITLES.percentage,
        numbers: seconds.map((value, row) => (value / places.seconds[placeOf[row]!]!) * 100),
      },
      { title: TASK_TITLES.memory, numbers: nbytes.subarray(0, rows).map((bytes) => bytes / 1e6) },
    ],
    { order: sortedOrder(seconds, true) },
  );
}
