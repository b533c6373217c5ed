// Computes how evenly work is spread: the number of results in the memory of each worker, second by second.
import { checkOptions, kind, type OptionKinds } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { rangeOf } from '../base/lookUps.js';
import { sortedOrder } from '../base/sortedOrder.js';
import { type Trace, textOf } from '../trace/trace.js';
import { type Column, Table } from './table.js';

/** Title of the first column. The other columns have the names of workers. */
export const INTERVAL_TITLE = 'Time Interval (seconds from begin)';

/** Largest number of cells, because damaged times could require any number. */
const MAX_CELLS = 50_000_000;
/** Largest number of rows without a given interval: 2¾ hours of seconds. */
const MAX_ROWS = 10_000;

export interface TaskBalanceOptions {
  /** Seconds per row, more than 0. Default 1. */
  readonly interval?: number;
}

const OPTIONS: OptionKinds<TaskBalanceOptions> = {
  interval: kind('seconds, more than 0', (value) => typeof value === 'number' && value > 0),
};

/**
 * Returns one row per interval since the first event of managed memory, with a column per worker. A cell is the largest
 * number of results that the worker held in the interval. The number is constant between events, and null before the
 * first one. Throws ERR_LONGPOLE_INVALID_ARGUMENT if the table would have more than 50 million cells.
 *
 * @source DASF, `TraceAnalyser.per_worker_task_balance`
 */
export function taskBalance(trace: Trace, options: TaskBalanceOptions = {}): Table {
  checkOptions('perWorkerTaskBalance()', options, OPTIONS);
  const { interval = 1 } = options;
  return balanceOf(trace, lanesOf(trace), interval);
}

/**
 * Returns the same table with an interval of 1, 2, 5, 10, 20, … seconds, the first that makes at most 10,000 rows.
 * Throws ERR_LONGPOLE_INVALID_ARGUMENT if the times are damaged, so that their difference is not a number.
 */
export function fittingTaskBalance(trace: Trace): Table {
  const lanes = lanesOf(trace);
  return balanceOf(trace, lanes, fittingInterval(lanes.last - lanes.begin, lanes.workers.length));
}

function fittingInterval(span: number, workers: number): number {
  const most = Math.min(MAX_ROWS, Math.floor(MAX_CELLS / (workers + 1)));
  for (let power = 1; Number.isFinite(power); power *= 10) {
    for (const step of [1, 2, 5]) {
      if (rowsOf(span, step * power) <= most) return step * power;
    }
  }
  return 1;
}

/** @param span seconds from the first event to the last; negative without events */
function rowsOf(span: number, interval: number): number {
  return span < 0 ? 0 : Math.floor(span / interval) + 1;
}

function balanceOf(trace: Trace, lanes: Lanes, interval: number): Table {
  const { strings } = trace;
  const { time, tasks } = trace.memory;
  const span = lanes.last - lanes.begin;
  const rows = rowsOf(span, interval);
  const count = lanes.workers.length;
  if (!(rows * (count + 1) <= MAX_CELLS)) {
    throw invalidArgument(
      Number.isFinite(span)
        ? `The events of managed memory span ${span.toPrecision(3)} s: a row for every ${interval} s would be ${rows} rows. Pass a longer interval.`
        : `The events of managed memory are from ${lanes.begin} s to ${lanes.last} s, which cannot be one run. The trace is damaged: record it again.`,
    );
  }
  const peaks = lanes.workers.map(() => new Float64Array(rows).fill(Number.NaN));
  // Number of results of each worker at its last event, and the row of that event.
  const held = new Float64Array(count);
  const heldRow = new Int32Array(count).fill(-1);
  for (const event of sortedOrder(time, false)) {
    const lane = lanes.laneOf[lanes.worker[event]! + 1]!;
    const peak = peaks[lane]!;
    const row = Math.min(rows - 1, Math.floor((time[event]! - lanes.begin) / interval));
    const before = heldRow[lane]!;
    if (before >= 0 && row > before) peak.fill(held[lane]!, before + 1, row + 1);
    const now = tasks[event]!;
    // Also true if the peak is NaN.
    if (!(peak[row]! >= now)) peak[row] = now;
    held[lane] = now;
    heldRow[lane] = row;
  }
  const columns: Column[] = lanes.workers.map((id, lane) => ({
    title: textOf(strings, id),
    numbers: peaks[lane]!.fill(held[lane]!, heldRow[lane]! + 1),
  }));
  columns.sort((a, b) => (a.title < b.title ? -1 : 1));
  const intervals = new Float64Array(rows).map((_, row) => row * interval);
  return new Table([{ title: INTERVAL_TITLE, numbers: intervals }, ...columns]);
}

interface Lanes {
  /** Name of the worker by event, as a string id; -1 without a worker. */
  readonly worker: Int32Array;
  /** Names of workers in the order of their first event. */
  readonly workers: readonly number[];
  /** Position in `workers` by worker + 1. */
  readonly laneOf: Int32Array;
  readonly begin: number;
  readonly last: number;
}

function lanesOf(trace: Trace): Lanes {
  const names = trace.workers.name;
  const worker = trace.memory.worker.map((row) => (row < 0 ? -1 : names[row]!));
  const workers = [...new Set(worker)];
  const laneOf = new Int32Array(trace.strings.length + 1);
  for (const [lane, id] of workers.entries()) laneOf[id + 1] = lane;
  const { start: begin, stop: last } = rangeOf(trace.memory.time);
  return { worker, workers, laneOf, begin, last };
}
