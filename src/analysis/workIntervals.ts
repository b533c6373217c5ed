// Orders the intervals of workers other than tasks by worker and time.

import { countedOffsets, rowsWhere } from '../base/groups.js';
import { addTo, oncePer, pushTo } from '../base/lookUps.js';
import { ACTIONS, type Action } from '../protocol/clusterObserver.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace } from '../trace/trace.js';
import { firstFrom, type TimeSpans, timeSpans } from './lanes.js';

/** Intervals as columns. Those of row `w` of `trace.workers` are `spans.rows[offsets[w] .. offsets[w + 1])`. */
export interface WorkIntervals extends Omit<Trace['intervals'], 'nbytes'> {
  readonly spans: TimeSpans;
  readonly offsets: Int32Array;
}

const COMPUTE = ACTIONS.indexOf('compute');
const TRANSFER = ACTIONS.indexOf('transfer');
const INCOMING = DIRECTIONS.indexOf('incoming');
const GATHER = TRANSFER_KINDS.indexOf('gather-dep');
/**
 * Returns the intervals of a trace by worker, made once. If a trace has no intervals of transfers, its rows of incoming
 * transfers are used instead.
 */
export const workIntervalsOf = oncePer((trace: Trace): WorkIntervals => {
  const { intervals, transfers } = trace;
  const fetched = intervals.action.includes(TRANSFER) ? new Int32Array(0) : fetchedRows(trace);
  const { length } = intervals;
  const all = length + fetched.length;
  const columns = {
    worker: joined(new Int32Array(all), intervals.worker, fetched, (row) => transfers.worker[row]!),
    thread: joined(new Int32Array(all), intervals.thread, fetched, () => -1),
    action: joined(new Uint8Array(all), intervals.action, fetched, () => TRANSFER),
    start: joined(new Float64Array(all), intervals.start, fetched, (row) => transfers.start[row]!),
    stop: joined(new Float64Array(all), intervals.stop, fetched, (row) => transfers.stop[row]!),
    task: joined(new Float64Array(all), intervals.task, fetched, () => -1),
  };
  const { worker, action, start, stop } = columns;
  const groupOf = worker.map((index, row) =>
    action[row] === COMPUTE || !(stop[row]! >= start[row]!) ? -1 : index,
  );
  const offsets = countedOffsets(groupOf, trace.workers.length);
  return { length: all, ...columns, spans: timeSpans(groupOf, offsets, start, stop), offsets };
});

/** Returns the rows of transfers of results from other workers, as their receivers record them. */
export function fetchedRows({ transfers: { length, direction, what } }: Trace): Int32Array {
  return rowsWhere(length, (row) => direction[row] === INCOMING && what[row] === GATHER);
}

function joined<T extends Int32Array | Uint8Array | Float64Array>(
  column: T,
  first: T,
  rows: Int32Array,
  value: (row: number) => number,
): T {
  column.set(first);
  for (const [i, row] of rows.entries()) column[first.length + i] = value(row);
  return column;
}

export function actionOf(intervals: WorkIntervals, interval: number): Action {
  return ACTIONS[intervals.action[interval]!] ?? 'compute';
}

/** Seconds by which times of a task and of its intervals may differ because both are rounded. */
export const CLOCK = 1e-6;
/** Number of intervals after a task among which the packing of its result is searched. */
const NEXT_INTERVALS = 16;

/**
 * Returns the time at which the result of a task could leave its worker: when the thread had packed the result, or else
 * when the task stopped.
 */
export function packedAt(trace: Trace, row: number): number {
  const { tasks } = trace;
  const intervals = workIntervalsOf(trace);
  const { spans, offsets } = intervals;
  const worker = tasks.worker[row]!;
  const stopped = tasks.stopped[row]!;
  if (worker < 0) return stopped;
  const end = offsets[worker + 1]!;
  const first = firstFrom(spans.rows, intervals.start, stopped - CLOCK, offsets[worker]!, end);
  for (let at = first; at < Math.min(end, first + NEXT_INTERVALS); at++) {
    const interval = spans.rows[at]!;
    if (intervals.task[interval] === tasks.id[row] && actionOf(intervals, interval) === 'serialize')
      return Math.max(stopped, intervals.stop[interval]!);
  }
  return stopped;
}

/** Returns the seconds in which each run of a task awaited promises in its slot, by row of tasks. Made once. */
export const awaitedSeconds = oncePer((trace: Trace): ReadonlyMap<number, number> => {
  const awaited = new Map<number, number>();
  const work = workIntervalsOf(trace);
  const waits = new Map<number, number[]>();
  for (const wait of work.spans.rows)
    if (actionOf(work, wait) === 'await') pushTo(waits, work.task[wait]!, wait);
  // Avoids reading the ids of tasks, a column of 8 bytes per row.
  if (waits.size === 0) return awaited;
  const { length, id, started, stopped } = trace.tasks;
  for (let row = 0; row < length; row++) {
    for (const wait of waits.get(id[row]!) ?? []) {
      // A task that failed and was repeated has several runs.
      if (!(work.start[wait]! >= started[row]! - CLOCK && work.start[wait]! < stopped[row]!)) continue;
      addTo(awaited, row, work.stop[wait]! - work.start[wait]!);
    }
  }
  return awaited;
});
