// Computes how evenly the work is spread: the busy and idle time of each thread of each worker.
import { checkArgument, TRACE } from '../base/arguments.js';
import { type Trace, workerName } from '../trace/trace.js';
import { lanesOf, secededUse } from './lanes.js';
import { windowOf } from './path/pathWalk.js';
import { descendingTable, numberColumn, type Table, valuesColumn } from './table.js';
import { lifeOf, threadsOf } from './workerLives.js';
import { actionOf, workIntervalsOf } from './workIntervals.js';

/**
 * Returns one row per thread that ran tasks, the busiest first: its computed seconds, its idle seconds while its worker
 * existed, and the end of its last task. `Other work (s)` are transfers, disk and serialization of the whole worker.
 */
export function workerBalance(trace: Trace): Table {
  const { tasks } = trace;
  const lanes = lanesOf(trace);
  const { count, offsets, spans } = lanes;
  const { start } = windowOf(trace);
  const other = otherWork(trace);
  const seconds = busySeconds(trace);
  const lived = Float64Array.from(lanes.worker, (row) => livedSeconds(trace, row));
  const numbers = (title: string, value: (lane: number) => number) => numberColumn(title, count, value);
  return descendingTable(seconds, [
    valuesColumn(
      'Worker',
      Array.from(lanes.worker, (row) => (row < 0 ? null : workerName(trace, row))),
    ),
    numbers('Thread', (lane) => (lanes.thread[lane]! < 0 ? Number.NaN : lanes.thread[lane]!)),
    numbers('Tasks', (lane) => offsets[lane + 1]! - offsets[lane]!),
    { title: 'Computed (s)', numbers: seconds },
    numbers('Busy (%)', (lane) => (seconds[lane]! / lived[lane]!) * 100),
    numbers('Idle (s)', (lane) => lived[lane]! - seconds[lane]!),
    numbers('Last task ended (s)', (lane) => tasks.stopped[spans.latest[offsets[lane + 1]! - 1]!]! - start),
    numbers('Other work (s)', (lane) => (lanes.worker[lane]! < 0 ? Number.NaN : other[lanes.worker[lane]!]!)),
  ]);
}

/**
 * Returns the name of each worker for display, and the share of the time of its threads in which tasks used them while
 * the worker existed within the run, 0 to 1. In the order of `trace.workers`.
 */
export function workerShares(trace: Trace): { readonly name: string; readonly busy: number }[] {
  checkArgument('workerShares(): trace', trace, TRACE);
  const threads = threadsOf(trace);
  const busy = new Float64Array(trace.workers.length);
  const { worker } = lanesOf(trace);
  for (const [lane, seconds] of busySeconds(trace).entries())
    if (worker[lane]! >= 0) busy[worker[lane]!]! += seconds;
  return Array.from(busy, (seconds, row) => ({
    name: workerName(trace, row),
    busy: seconds > 0 ? seconds / (threads[row]! * livedSeconds(trace, row)) : 0,
  }));
}

/** Returns the seconds of the run in which a worker existed. */
function livedSeconds(trace: Trace, row: number): number {
  const { start, stop } = lifeOf(trace, row, windowOf(trace));
  return stop - start;
}

/** Returns the seconds in which each lane computed. */
function busySeconds(trace: Trace): Float64Array {
  const { count, offsets, spans } = lanesOf(trace);
  return Float64Array.from({ length: count }, (_, lane) =>
    coveredSeconds(trace, spans.rows.subarray(offsets[lane]!, offsets[lane + 1]!)),
  );
}

/**
 * Returns the seconds in which at least one of the rows used its thread. Rows are in order of start. The time of
 * seceded tasks on the thread counts in addition.
 */
export function coveredSeconds(trace: Trace, rows: Int32Array): number {
  const { started, seceded } = trace.tasks;
  const { stop } = lanesOf(trace);
  let seconds = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const row of rows) {
    if (!Number.isNaN(seceded[row]!)) {
      const { between, after } = secededUse(trace.tasks, row);
      seconds += between + after;
    }
    if (stop[row]! <= until) continue;
    seconds += stop[row]! - Math.max(until, started[row]!);
    until = stop[row]!;
  }
  return seconds;
}

function otherWork(trace: Trace): Float64Array {
  const work = workIntervalsOf(trace);
  const { spans, worker, start, stop } = work;
  const seconds = new Float64Array(trace.workers.length);
  for (const row of spans.rows)
    if (actionOf(work, row) !== 'await') seconds[worker[row]!]! += stop[row]! - start[row]!;
  return seconds;
}
