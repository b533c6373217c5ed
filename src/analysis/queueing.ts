// Computes where tasks wait between their readiness and the acknowledgement of their results, by prefix.
import { countedOffsets, groupedRows, rowsWhere } from '../base/groups.js';
import type { Trace } from '../trace/trace.js';
import { lanesOf } from './lanes.js';
import { evenly, median } from './statistics.js';
import { readyTimes } from './submissionTimes.js';
import { descendingTable, numberColumn, type Table } from './table.js';

type Stage = readonly [title: string, from: Lifecycle, to: Lifecycle];
type Lifecycle = 'ready' | 'dispatched' | 'received' | 'started' | 'stopped' | 'acknowledged';

/** Stages of a task in order of time. */
const STAGES: readonly Stage[] = [
  ['Queued at scheduler', 'ready', 'dispatched'],
  ['Sent to worker', 'dispatched', 'received'],
  ['Queued at worker', 'received', 'started'],
  ['Computed', 'started', 'stopped'],
  ['Acknowledged', 'stopped', 'acknowledged'],
];

/**
 * Returns one row per prefix with the median seconds of each stage of its tasks, and the sum of all waits, the largest
 * first. For more than 20,000 tasks, the medians are those of 20,000 evenly spaced tasks. The table is empty if the
 * trace has no times of the stages. The waits of concurrent tasks are added up, so the sum may exceed the makespan.
 */
export function queueing(trace: Trace): Table {
  const { tasks, strings } = trace;
  const { laneOf } = lanesOf(trace);
  const { prefix, dispatched, started, stopped, acknowledged } = tasks;
  const ready = readyTimes(trace);
  const timesOf = (time: Lifecycle): Float64Array => (time === 'ready' ? ready : tasks[time]);
  const groupOf = prefix.slice();
  for (let row = 0; row < groupOf.length; row++)
    if (laneOf[row]! < 0 || !(dispatched[row]! >= 0)) groupOf[row] = -1;
  const offsets = countedOffsets(groupOf, strings.length);
  const rows = groupedRows(groupOf, offsets);
  const ids = rowsWhere(strings.length, (id) => offsets[id + 1]! > offsets[id]!);
  const membersOf = (id: number) => rows.subarray(offsets[id]!, offsets[id + 1]!);
  const waited = Float64Array.from(ids, (id) => {
    let sum = 0;
    for (const row of membersOf(id)) {
      const before = started[row]! - ready[row]!;
      const after = acknowledged[row]! - stopped[row]!;
      sum += Math.max(0, before || 0) + Math.max(0, after || 0);
    }
    return sum;
  });
  const numbers = (title: string, value: (id: number) => number) =>
    numberColumn(title, ids.length, (row) => value(ids[row]!));
  return descendingTable(waited, [
    { title: 'Prefix', ids, strings },
    numbers('Tasks', (id) => membersOf(id).length),
    ...STAGES.map(([title, from, to]) =>
      numbers(`${title} (s)`, (id) => medianBetween(evenly(membersOf(id)), timesOf(from), timesOf(to))),
    ),
    { title: 'Waited in all (s)', numbers: waited },
  ]);
}

function medianBetween(rows: Int32Array, from: Float64Array, to: Float64Array): number {
  const seconds = new Float64Array(rows.length);
  let known = 0;
  for (const row of rows) {
    const value = to[row]! - from[row]!;
    if (value >= 0) seconds[known++] = value;
  }
  return median(seconds.subarray(0, known));
}
